/** People in SQLite, in a file of its own, which exists only where people sign in. */
import type { PeopleStore } from '../ports/people-store.ts';
import type { Row } from '../rules/columns.ts';
import { openSqliteDatabase, Reads } from './database.ts';
import { allPeople, auditPage, readAccess, readAuditPage, readPerson, tokensOf } from './people-rows.ts';

/** Migrations of `people.sqlite`. Lists are JSON. */
const peopleMigrations: readonly string[] = [
  `
  CREATE TABLE people (
    id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT,
    claimed TEXT NOT NULL, signed_in_at REAL NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE accesses (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, person_id TEXT NOT NULL, scopes TEXT, name TEXT,
    created_at REAL NOT NULL, expires_at REAL NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX accesses_of_person ON accesses (person_id, created_at);
  CREATE INDEX accesses_by_end ON accesses (expires_at);
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, person_id TEXT, person_name TEXT, token_id TEXT, address TEXT,
    action TEXT NOT NULL, target TEXT, changes TEXT NOT NULL
  );
  CREATE INDEX audit_by_time ON audit (at);
  `,
];

const keepSql = `INSERT INTO people (id, issuer, subject, name, email, claimed, signed_in_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email, claimed = excluded.claimed,
    signed_in_at = excluded.signed_in_at`;
const openSql = `INSERT INTO accesses (hash, id, person_id, scopes, name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const noteSql = `INSERT INTO audit (at, person_id, person_name, token_id, address, action, target, changes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** `file`: `people.sqlite` of the data folder, or `:memory:`. */
export function openPeopleStore(file: string): PeopleStore {
  const database = openSqliteDatabase(file, peopleMigrations);
  const reads = new Reads(database);
  const statements = {
    keep: database.prepare(keepSql),
    person: database.prepare('SELECT * FROM people WHERE id = ?'),
    open: database.prepare(openSql),
    find: database.prepare('SELECT * FROM accesses WHERE hash = ?'),
    findById: database.prepare('SELECT * FROM accesses WHERE id = ?'),
    end: database.prepare('DELETE FROM accesses WHERE id = ?'),
    endAll: database.prepare('DELETE FROM accesses WHERE person_id = ?'),
    endBrowsers: database.prepare('DELETE FROM accesses WHERE scopes IS NULL'),
    note: database.prepare(noteSql),
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
    listPeople: () => reads.all(allPeople).map(readPerson),
    open({ hash, id, personId, scopes, name, createdAt, expiresAt }) {
      statements.open.run(hash, id, personId, scopes && JSON.stringify(scopes), name, createdAt, expiresAt);
    },
    find: (hash) => withPerson(statements.find.get(hash)),
    findByIds: (ids) => ids.flatMap((id) => withPerson(statements.findById.get(id)) ?? []),
    listTokens: (personId) => reads.all(tokensOf(personId)).map(readAccess),
    end(ended) {
      if ('id' in ended) return statements.end.run(ended.id).changes;
      if ('personId' in ended) return statements.endAll.run(ended.personId).changes;
      return statements.endBrowsers.run().changes;
    },
    note({ at, personId, personName, tokenId, address, action, target, changes }) {
      statements.note.run(at, personId, personName, tokenId, address, action, target, JSON.stringify(changes));
    },
    readAudit: (question) => readAuditPage(reads.all(auditPage(question)), question),
    sweep({ nowMs, auditSinceMs }) {
      statements.sweep.run(nowMs);
      statements.sweepAudit.run(auditSinceMs);
    },
    close: () => database.close(),
  };
}
