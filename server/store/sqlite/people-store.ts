/** People in SQLite, in a file of its own, which exists only where people sign in. */

import type { AuditEntry } from '../../contract/people-views.ts';
import type { Access, AuditPage, AuditQuery, OwnedKey, PeopleStore, StoredPerson } from '../ports/people-store.ts';
import { json, number, type Row, text } from '../rules/columns.ts';
import { allOf, literal, raw, type Sql, sql } from '../rules/condition-sql.ts';
import { isConstraintViolation } from '../rules/failures.ts';
import { openSqliteDatabase, Reads } from './database.ts';
import { createScimStore, scimEndings, scimGoneMembers, scimTables } from './scim-store.ts';

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
  `
  -- Whose each key was from when on, also after it was revoked, so that a person's limits count all of them.
  CREATE TABLE key_owners (
    key_id TEXT NOT NULL, since_ms REAL NOT NULL, person_id TEXT NOT NULL, until_ms REAL, PRIMARY KEY (key_id, since_ms)
  ) WITHOUT ROWID;
  CREATE INDEX key_owners_by_person ON key_owners (person_id);
  `,
  `
  -- When the identity provider last told of the groups, and when it is to be asked again; null: at the next sign-in.
  ALTER TABLE people ADD COLUMN checked_at REAL;
  ALTER TABLE people ADD COLUMN check_due_at REAL;
  CREATE INDEX people_due ON people (check_due_at) WHERE check_due_at IS NOT NULL;
  `,
  // By which a person is known to SCIM, and what SCIM says.
  `ALTER TABLE people ADD COLUMN external_id TEXT; ${scimTables('REAL')}`,
  scimEndings('REAL'),
  scimGoneMembers('REAL'),
];

const keepSql = `INSERT INTO people (id, issuer, subject, name, email, claimed, signed_in_at, checked_at, check_due_at,
    external_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email, claimed = excluded.claimed,
    signed_in_at = excluded.signed_in_at, checked_at = excluded.checked_at, check_due_at = excluded.check_due_at,
    external_id = excluded.external_id`;
const claimSql = `UPDATE people SET check_due_at = ?
  WHERE id IN (SELECT id FROM people WHERE check_due_at <= ? ORDER BY check_due_at LIMIT ?) RETURNING *`;
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
    claimDue: database.prepare(claimSql),
    endChecks: database.prepare('UPDATE people SET check_due_at = NULL WHERE id = ? AND signed_in_at = ?'),
    open: database.prepare(openSql),
    find: database.prepare('SELECT * FROM accesses WHERE hash = ?'),
    findById: database.prepare('SELECT * FROM accesses WHERE id = ?'),
    end: database.prepare('DELETE FROM accesses WHERE id = ?'),
    endAll: database.prepare('DELETE FROM accesses WHERE person_id = ?'),
    endBrowsersOf: database.prepare('DELETE FROM accesses WHERE person_id = ? AND scopes IS NULL'),
    endBrowsers: database.prepare('DELETE FROM accesses WHERE scopes IS NULL'),
    keepOwner: database.prepare('INSERT OR IGNORE INTO key_owners (key_id, since_ms, person_id) VALUES (?, ?, ?)'),
    endOwner: database.prepare('UPDATE key_owners SET until_ms = ? WHERE key_id = ? AND until_ms IS NULL'),
    keysOf: database.prepare('SELECT * FROM key_owners WHERE person_id = ?'),
    sweepOwners: database.prepare('DELETE FROM key_owners WHERE until_ms < ?'),
    note: database.prepare(noteSql),
    sweep: database.prepare('DELETE FROM accesses WHERE expires_at <= ?'),
    sweepAudit: database.prepare('DELETE FROM audit WHERE at < ?'),
  };
  const withPerson = (row: Row | undefined) => {
    const person = row && statements.person.get(row.person_id ?? null);
    return row && person ? { access: readAccess(row), person: readPerson(person) } : null;
  };
  return {
    keepPerson(person) {
      statements.keep.run(...personValues(person));
    },
    claimDue: ({ nowMs, nextMs, limit }) => statements.claimDue.all(nextMs, nowMs, limit).map(readPerson),
    endChecks: ({ id, signedInAt }) => statements.endChecks.run(id, signedInAt).changes > 0,
    findPerson(id) {
      const row = statements.person.get(id);
      return row ? readPerson(row) : null;
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
      if ('browsersOf' in ended) return statements.endBrowsersOf.run(ended.browsersOf).changes;
      return statements.endBrowsers.run().changes;
    },
    keepKeyOwners(owners) {
      database.transaction(() => {
        for (const { keyId, sinceMs, personId } of owners) statements.keepOwner.run(keyId, sinceMs, personId);
      });
    },
    endKeyOwners(keyIds, atMs) {
      for (const keyId of keyIds) statements.endOwner.run(atMs, keyId);
    },
    keysOf: (personId) => statements.keysOf.all(personId).map(readOwnedKey),
    note({ at, personId, personName, tokenId, address, action, target, changes }) {
      statements.note.run(at, personId, personName, tokenId, address, action, target, JSON.stringify(changes));
    },
    readAudit: (question) => readAuditPage(reads.all(auditPage(question)), question),
    sweep({ nowMs, auditSinceMs }) {
      statements.sweep.run(nowMs);
      statements.sweepAudit.run(auditSinceMs);
      statements.sweepOwners.run(auditSinceMs);
    },
    close: () => database.close(),
    scim: createScimStore((statement) => reads.all(statement), isConstraintViolation),
  };
}

// Reads of people, their sessions and tokens, and the audit list: for both databases.

export const allPeople = raw('SELECT * FROM people ORDER BY name, id');

/** API tokens, newest first; null: everyone's. */
export function tokensOf(personId: string | null): Sql {
  const ofPerson = personId === null ? [] : [sql`person_id = ${personId}`];
  return sql`SELECT * FROM accesses WHERE ${allOf([raw('scopes IS NOT NULL'), ...ofPerson])} ORDER BY created_at DESC`;
}

/** Newest first. */
export function auditPage({ before, limit, personId }: AuditQuery): Sql {
  const ofPerson = personId === null ? raw('person_id IS NULL') : sql`person_id = ${personId ?? ''}`;
  const conditions = [
    ...(before === null ? [] : [sql`seq < ${before}`]),
    ...(personId === undefined ? [] : [ofPerson]),
  ];
  return sql`SELECT * FROM audit WHERE ${allOf(conditions)} ORDER BY seq DESC LIMIT ${literal(limit)}`;
}

export function readAuditPage(rows: readonly Row[], { limit }: AuditQuery): AuditPage {
  return { entries: rows.map(readEntry), next: rows.length < limit ? null : number(rows.at(-1)?.seq) };
}

export function readPerson(row: Row): StoredPerson {
  return {
    id: text(row.id) ?? '',
    issuer: text(row.issuer) ?? '',
    subject: text(row.subject) ?? '',
    name: text(row.name) ?? '',
    email: text(row.email),
    claimed: json<string[]>(row.claimed, []),
    signedInAt: number(row.signed_in_at) ?? 0,
    checkedAt: number(row.checked_at) ?? number(row.signed_in_at) ?? 0,
    checkDueAt: number(row.check_due_at),
    externalId: text(row.external_id),
  };
}

/** In the order of the columns. */
export function personValues(person: StoredPerson): (string | number | null)[] {
  const { id, issuer, subject, name, email, claimed, signedInAt, checkedAt, checkDueAt, externalId } = person;
  return [id, issuer, subject, name, email, JSON.stringify(claimed), signedInAt, checkedAt, checkDueAt, externalId];
}

export function readOwnedKey(row: Row): OwnedKey {
  return { keyId: text(row.key_id) ?? '', sinceMs: number(row.since_ms) ?? 0, untilMs: number(row.until_ms) };
}

export function readAccess(row: Row): Access {
  return {
    id: text(row.id) ?? '',
    hash: text(row.hash) ?? '',
    personId: text(row.person_id) ?? '',
    scopes: json<Access['scopes']>(row.scopes ?? null, null),
    name: text(row.name),
    createdAt: number(row.created_at) ?? 0,
    expiresAt: number(row.expires_at) ?? 0,
  };
}

function readEntry(row: Row): AuditEntry {
  return {
    seq: number(row.seq) ?? 0,
    at: number(row.at) ?? 0,
    personId: text(row.person_id),
    personName: text(row.person_name),
    tokenId: text(row.token_id),
    address: text(row.address),
    action: text(row.action) ?? '',
    target: text(row.target),
    changes: json<AuditEntry['changes']>(row.changes, []),
  };
}
