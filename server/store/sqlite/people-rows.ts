/** SQLite tables about people, in a separate file, which exists only where people sign in. */
import type { AuditEntry } from '../../contract/people-views.ts';
import type { Access, StoredPerson } from '../ports/people-store.ts';
import { json, number, type Row, text } from '../rules/columns.ts';

/** Migrations of `people.sqlite`. Lists are JSON. */
export const peopleMigrations: readonly string[] = [
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

export function readPerson(row: Row): StoredPerson {
  return {
    id: text(row.id) ?? '',
    issuer: text(row.issuer) ?? '',
    subject: text(row.subject) ?? '',
    name: text(row.name) ?? '',
    email: text(row.email),
    claimed: json<string[]>(row.claimed, []),
    signedInAt: number(row.signed_in_at) ?? 0,
  };
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

export function readEntry(row: Row): AuditEntry {
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
