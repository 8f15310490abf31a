/**
 * The tables in PostgreSQL, as migrations. A published migration is never edited. A change is a new entry that only
 * adds, so that the previous version of the program keeps working while replicas are replaced one by one.
 *
 * Times are Unix milliseconds; JSON is stored as it was written.
 */
import { scimEndings, scimGoneMembers, scimTables } from '../sqlite/scim-store.ts';
import { ledgerTables } from './ledger-tables.ts';
import { peopleTables } from './people-tables.ts';

export interface Migration {
  name: string;
  sql: string;
  /**
   * The number of migrations that a program must know to use a database with this one. If absent, every program that
   * could use the database before still can. What is dropped here must not be read by the previous release, so this is
   * the number of migrations in that release.
   */
  oldestProgram?: number;
}

export const postgresMigrations: readonly Migration[] = [
  {
    name: 'configuration',
    sql: `
      -- The newest is in force. See config-store.ts.
      CREATE TABLE config_revisions (
        revision bigint PRIMARY KEY, config json NOT NULL, made_at double precision NOT NULL
      );
    `,
  },
  {
    name: 'jobs',
    sql: `
      CREATE TABLE jobs (
        kind text NOT NULL, group_id text NOT NULL, id text NOT NULL, provider_id text NOT NULL, credential_id text,
        model text, key_id text, created_at double precision NOT NULL, last_used_at double precision NOT NULL,
        upstream_id text, owed json,
        PRIMARY KEY (kind, group_id, id)
      );
      CREATE INDEX jobs_by_id ON jobs (id);
      CREATE INDEX jobs_by_time ON jobs (kind, group_id, created_at, id);
      CREATE INDEX jobs_by_use ON jobs (last_used_at);
      -- Of a response in the background whose usage is still to be told.
      CREATE INDEX jobs_owing ON jobs (created_at) WHERE owed IS NOT NULL;
    `,
  },
  {
    name: 'kept responses and reasoning',
    sql: `
      CREATE TABLE kept_responses (
        group_id text NOT NULL, id text NOT NULL, created_at double precision NOT NULL, bytes bigint NOT NULL,
        response text NOT NULL, input text NOT NULL,
        PRIMARY KEY (group_id, id)
      );
      CREATE INDEX kept_responses_by_time ON kept_responses (group_id, created_at, id) INCLUDE (bytes);
      CREATE INDEX kept_responses_by_age ON kept_responses (created_at);
      CREATE TABLE reasoning (
        key_id text NOT NULL, call_id text NOT NULL, kept_at double precision NOT NULL, reasoning text NOT NULL,
        PRIMARY KEY (key_id, call_id)
      );
      CREATE INDEX reasoning_by_time ON reasoning (kept_at);
    `,
  },
  { name: 'ledger', sql: ledgerTables },
  {
    name: 'secrets',
    sql: `
      -- Sealed with a key that is not in the database. See secret-store.ts.
      CREATE TABLE secrets (name text PRIMARY KEY, sealed json NOT NULL);
      -- What shows whether a key is the right one, and how it is derived from a passphrase.
      CREATE TABLE secret_key (only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), proof json NOT NULL);
    `,
  },
  { name: 'people', sql: peopleTables },
  {
    name: 'changes of the configuration',
    sql: `
      -- What a revision changes of the one before; of such a one the whole configuration is there now and then.
      ALTER TABLE config_revisions ADD COLUMN patch json, ALTER COLUMN config DROP NOT NULL;
    `,
  },
  {
    name: 'sizes of objects',
    sql: `
      -- The most input that the object adds to a request that refers to it; null: unknown.
      ALTER TABLE jobs ADD COLUMN input_tokens double precision;
    `,
  },
  {
    name: 'days of late requests',
    sql: `
      -- On which days are requests of other days: see partitions.ts.
      INSERT INTO request_names (dimension, name, day)
        SELECT DISTINCT 'moved', '', day FROM requests WHERE day <> floor(started_at / 86400000) ON CONFLICT DO NOTHING;
    `,
  },
  {
    name: 'sessions of jobs',
    sql: `
      -- The session that made a job, which is billed for it.
      ALTER TABLE jobs ADD COLUMN session text;
    `,
  },
  {
    name: 'sizes of captures',
    sql: `
      -- What each capture takes, with its attempts: see capture-room.ts.
      CREATE TABLE capture_sizes (
        day integer NOT NULL, id text NOT NULL, captured_at double precision NOT NULL, bytes bigint NOT NULL,
        PRIMARY KEY (day, id)
      );
      CREATE INDEX capture_sizes_by_time ON capture_sizes (captured_at, id);
      INSERT INTO capture_sizes SELECT day, id, captured_at,
        coalesce(octet_length(request), 0) + coalesce(octet_length(response), 0) + octet_length(about::text) + (
          SELECT coalesce(sum(coalesce(octet_length(each.request), 0) + coalesce(octet_length(each.response), 0)), 0)
          FROM captured_attempts AS each WHERE each.day = captures.day AND each.id = captures.id
        ) FROM captures;
    `,
  },
  {
    name: 'changes of the sealing key',
    sql: `
      -- While the key that seals secrets is changed: the new one, sealed with the former. See outside-key.ts.
      ALTER TABLE secret_key ADD COLUMN former json;
    `,
  },
  {
    name: 'renewed prices',
    sql: `
      -- What was read of public prices and exchange rates. See renewals.ts.
      CREATE TABLE renewed_prices (
        only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), document text NOT NULL, changes bigint NOT NULL
      );
    `,
  },
  {
    name: 'pinned requests',
    sql: `
      -- Copies of requests that are kept whatever their age: see ports/pin-store.ts. Request and capture are JSON.
      CREATE TABLE pins (
        id text PRIMARY KEY, started_at double precision NOT NULL, pinned_at double precision NOT NULL, note text,
        request text NOT NULL, capture text
      );
    `,
  },
  {
    name: 'owners of keys',
    sql: `
      -- Whose each key was from when on, also after it was revoked, so that a person's limits count all of them.
      CREATE TABLE key_owners (
        key_id text NOT NULL, since_ms double precision NOT NULL, person_id text NOT NULL, until_ms double precision,
        PRIMARY KEY (key_id, since_ms)
      );
      CREATE INDEX key_owners_by_person ON key_owners (person_id);
    `,
  },
  {
    name: 'checks of people',
    sql: `
      -- When the identity provider last told of the groups, and when it is to be asked again; null: at the next sign-in.
      ALTER TABLE people ADD COLUMN checked_at double precision, ADD COLUMN check_due_at double precision;
      CREATE INDEX people_due ON people (check_due_at) WHERE check_due_at IS NOT NULL;
    `,
  },
  {
    name: 'refusals by key',
    sql: `
      -- Refused requests without rows, counted: see refusals.ts. Without a valid key the key is ''. Replicas of the previous
      -- version go on counting in \`refusals\`.
      CREATE TABLE refusal_counts (
        minute integer NOT NULL, key_id text NOT NULL, reason text NOT NULL, requests bigint NOT NULL,
        last_at double precision NOT NULL, last_client text,
        PRIMARY KEY (minute, key_id, reason)
      );
      INSERT INTO refusal_counts SELECT minute, '', reason, requests, last_at, last_client FROM refusals;
    `,
  },
  {
    name: 'scim',
    // By which a person is known to SCIM, and what SCIM says.
    sql: `ALTER TABLE people ADD COLUMN external_id text; ${scimTables('double precision')}`,
  },
  { name: 'endings by scim', sql: scimEndings('double precision') },
  { name: 'members of gone groups', sql: scimGoneMembers('double precision') },
];
