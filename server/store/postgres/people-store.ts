/**
 * People, sessions, API tokens and the audit list of all replicas. Nothing is cached, so what is revoked at one replica
 * is revoked at all.
 */
import { GatewayError } from '../../contract/errors.ts';
import type { PeopleStore } from '../ports/people-store.ts';
import { type Row, text } from '../rules/columns.ts';
import type { Sql } from '../rules/condition-sql.ts';
import {
  allPeople,
  auditPage,
  personValues,
  readAccess,
  readAuditPage,
  readOwnedKey,
  readPerson,
  tokensOf,
} from '../sqlite/people-store.ts';
import { createScimStore } from '../sqlite/scim-store.ts';
import { channel, type Notices } from './notices.ts';
import {
  columnsOf,
  explained,
  isUniqueViolation,
  type Parameter,
  type Postgres,
  readRows,
  unnest,
  withTimeout,
} from './postgres.ts';

const keepSql = `INSERT INTO people (id, issuer, subject, name, email, claimed, signed_in_at, checked_at, check_due_at,
    external_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email, claimed = excluded.claimed,
    signed_in_at = excluded.signed_in_at, checked_at = excluded.checked_at, check_due_at = excluded.check_due_at,
    external_id = excluded.external_id`;
const openSql = `INSERT INTO accesses (hash, id, person_id, scopes, name, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const claimSql = `UPDATE people SET check_due_at = $1 WHERE id IN (
    SELECT id FROM people WHERE check_due_at <= $2 ORDER BY check_due_at LIMIT $3 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;
const keepOwnersSql = `INSERT INTO key_owners (key_id, since_ms, person_id)
  SELECT key_id, since_ms, person_id FROM ${unnest({ key_id: 'text', since_ms: 'double precision', person_id: 'text' })}
  ON CONFLICT DO NOTHING`;
const noteSql = `INSERT INTO audit (at, person_id, person_name, token_id, address, action, target, changes)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

const findSql = (condition: string) =>
  `SELECT accesses.*, issuer, subject, email, claimed, signed_in_at, checked_at, check_due_at,
     people.external_id, people.name AS person_name
   FROM accesses JOIN people ON people.id = person_id WHERE ${condition}`;
const endSql = (condition: string) =>
  `WITH ended AS (DELETE FROM accesses WHERE ${condition} RETURNING id) SELECT pg_notify('${channel}', 'people') FROM ended`;

const toFound = (row: Row) => ({
  access: readAccess(row),
  person: readPerson({ ...row, id: text(row.person_id), name: text(row.person_name) }),
});

/** Closing the store leaves the database open. */
export function createPostgresPeopleStore(postgres: Pick<Postgres, 'ask'>, notices: Pick<Notices, 'on'>): PeopleStore {
  const ask = (sql: string, ...values: Parameter[]) => explained(() => postgres.ask(sql, ...values), unavailable);
  const read = (rows: Sql) => explained(() => readRows(postgres, rows), unavailable);
  /** Every call of the control plane waits for this query. */
  const find = async (condition: string, value: Parameter) =>
    (await explained(() => withTimeout(postgres.ask(findSql(condition), value)), unavailable)).rows.map(toFound);
  return {
    async keepPerson(person) {
      await ask(keepSql, ...personValues(person));
    },
    claimDue: async ({ nowMs, nextMs, limit }) => (await ask(claimSql, nextMs, nowMs, limit)).rows.map(readPerson),
    async endChecks({ id, signedInAt }) {
      const ended = 'UPDATE people SET check_due_at = NULL WHERE id = $1 AND signed_in_at = $2 RETURNING id';
      return (await ask(ended, id, signedInAt)).rows.length > 0;
    },
    async findPerson(id) {
      const [row] = (await ask('SELECT * FROM people WHERE id = $1', id)).rows;
      return row ? readPerson(row) : null;
    },
    listPeople: async () => (await read(allPeople)).map(readPerson),
    async open({ hash, id, personId, scopes, name, createdAt, expiresAt }) {
      await ask(openSql, hash, id, personId, scopes && JSON.stringify(scopes), name, createdAt, expiresAt);
    },
    find: async (hash) => (await find('hash = $1', hash))[0] ?? null,
    findByIds: (ids) => find('accesses.id = ANY($1)', ids),
    onEnded: (listener) => notices.on('people', listener),
    listTokens: async (personId) => (await read(tokensOf(personId))).map(readAccess),
    async end(ended) {
      const remove = async (condition: string, ...values: Parameter[]) =>
        (await ask(endSql(condition), ...values)).count;
      if ('id' in ended) return remove('id = $1', ended.id);
      if ('browsersOf' in ended) return remove('person_id = $1 AND scopes IS NULL', ended.browsersOf);
      return 'personId' in ended ? remove('person_id = $1', ended.personId) : remove('scopes IS NULL');
    },
    async keepKeyOwners(owners) {
      if (owners.length > 0)
        await ask(
          keepOwnersSql,
          ...columnsOf(owners.map(({ keyId, sinceMs, personId }) => [keyId, sinceMs, personId])),
        );
    },
    async endKeyOwners(keyIds, atMs) {
      await ask('UPDATE key_owners SET until_ms = $2 WHERE key_id = ANY($1) AND until_ms IS NULL', [...keyIds], atMs);
    },
    keysOf: async (personId) =>
      (await ask('SELECT * FROM key_owners WHERE person_id = $1', personId)).rows.map(readOwnedKey),
    async note({ at, personId, personName, tokenId, address, action, target, changes }) {
      await ask(noteSql, at, personId, personName, tokenId, address, action, target, JSON.stringify(changes));
    },
    readAudit: async (question) => readAuditPage(await read(auditPage(question)), question),
    async sweep({ nowMs, auditSinceMs }) {
      await ask('DELETE FROM accesses WHERE expires_at <= $1', nowMs);
      await ask('DELETE FROM audit WHERE at < $1', auditSinceMs);
      await ask('DELETE FROM key_owners WHERE until_ms < $1', auditSinceMs);
    },
    async close() {},
    scim: createScimStore(read, isUniqueViolation),
  };
}

function unavailable(cause: unknown): GatewayError {
  const message = 'The database does not answer, so it cannot be said who is signed in. Try again in a moment.';
  return new GatewayError('storage_unavailable', message, { cause });
}
