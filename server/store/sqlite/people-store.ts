import type { PeopleStore } from '../ports/people-store.ts';
import { number, type Row } from '../rules/columns.ts';
import { openSqliteDatabase } from './database.ts';
import { peopleMigrations, readAccess, readEntry, readPerson } from './people-rows.ts';

const keepSql = `INSERT INTO people (id, issuer, subject, name, email, claimed, signed_in_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email, claimed = excluded.claimed,
    signed_in_at = excluded.signed_in_at`;
const openSql = `INSERT INTO accesses (hash, id, person_id, scopes, name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const noteSql = `INSERT INTO audit (at, person_id, person_name, token_id, address, action, target, changes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** `file`: `people.sqlite` of the data folder, or `:memory:`. */
export function openPeopleStore(file: string): PeopleStore {
  const database = openSqliteDatabase(file, peopleMigrations);
  const statements = {
    keep: database.prepare(keepSql),
    people: database.prepare('SELECT * FROM people ORDER BY name, id'),
    person: database.prepare('SELECT * FROM people WHERE id = ?'),
    open: database.prepare(openSql),
    find: database.prepare('SELECT * FROM accesses WHERE hash = ?'),
    findById: database.prepare('SELECT * FROM accesses WHERE id = ?'),
    tokens: database.prepare('SELECT * FROM accesses WHERE scopes IS NOT NULL ORDER BY created_at DESC'),
    tokensOf: database.prepare(
      'SELECT * FROM accesses WHERE person_id = ? AND scopes IS NOT NULL ORDER BY created_at DESC',
    ),
    end: database.prepare('DELETE FROM accesses WHERE id = ?'),
    endAll: database.prepare('DELETE FROM accesses WHERE person_id = ?'),
    endBrowsers: database.prepare('DELETE FROM accesses WHERE scopes IS NULL'),
    note: database.prepare(noteSql),
    audit: database.prepare('SELECT * FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?'),
    auditOf: database.prepare('SELECT * FROM audit WHERE seq < ? AND person_id IS ? ORDER BY seq DESC LIMIT ?'),
    sweep: database.prepare('DELETE FROM accesses WHERE expires_at <= ?'),
    sweepAudit: database.prepare('DELETE FROM audit WHERE at < ?'),
  };
  const withPerson = (row: Row | undefined) => {
    const person = row && statements.person.get(row.person_id ?? null);
    return row && person ? { access: readAccess(row), person: readPerson(person) } : null;
  };
  return {
    keepPerson({ id, issuer, subject, name, email, claimed, signedInAt }) {
      statements.keep.run(id, issuer, subject, name, email, JSON.stringify(claimed), signedInAt);
    },
    listPeople: () => statements.people.all().map(readPerson),
    open({ hash, id, personId, scopes, name, createdAt, expiresAt }) {
      statements.open.run(hash, id, personId, scopes && JSON.stringify(scopes), name, createdAt, expiresAt);
    },
    find: (hash) => withPerson(statements.find.get(hash)),
    findByIds: (ids) => ids.flatMap((id) => withPerson(statements.findById.get(id)) ?? []),
    listTokens: (personId) =>
      (personId === null ? statements.tokens.all() : statements.tokensOf.all(personId)).map(readAccess),
    end(ended) {
      if ('id' in ended) return statements.end.run(ended.id).changes;
      if ('personId' in ended) return statements.endAll.run(ended.personId).changes;
      return statements.endBrowsers.run().changes;
    },
    note({ at, personId, personName, tokenId, address, action, target, changes }) {
      statements.note.run(at, personId, personName, tokenId, address, action, target, JSON.stringify(changes));
    },
    readAudit({ before, limit, personId }) {
      const end = before ?? Number.MAX_SAFE_INTEGER;
      const rows =
        personId === undefined ? statements.audit.all(end, limit) : statements.auditOf.all(end, personId, limit);
      return { entries: rows.map(readEntry), next: rows.length < limit ? null : number(rows.at(-1)?.seq ?? null) };
    },
    sweep({ nowMs, auditSinceMs }) {
      statements.sweep.run(nowMs);
      statements.sweepAudit.run(auditSinceMs);
    },
    close: () => database.close(),
  };
}
