/** Reads of people, their sessions and tokens, and the audit list: for both databases. */
import type { AuditEntry } from '../../contract/people-views.ts';
import type { Access, AuditPage, AuditQuery, OwnedKey, StoredPerson } from '../ports/people-store.ts';
import { json, number, type Row, text } from '../rules/columns.ts';
import { allOf, literal, raw, type Sql, sql } from '../rules/condition-sql.ts';

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
