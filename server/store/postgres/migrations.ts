/**
 * The tables in PostgreSQL, as migrations. A published migration is never edited. A change is a new entry that only
 * adds, so that the previous version of the program keeps working while replicas are replaced one by one.
 *
 * Times are Unix milliseconds; JSON is stored as it was written.
 */
import { scimEndings, scimGoneMembers, scimTables } from '../sqlite/scim-store.ts';

// The ledger's tables, as created by its first migration.

const sums = `
  requests bigint NOT NULL, errors bigint NOT NULL, refused bigint NOT NULL,
  input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cached_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL, seconds double precision NOT NULL, characters bigint NOT NULL, images bigint NOT NULL,
  cost_usd double precision NOT NULL, unpriced_requests bigint NOT NULL`;

const ledgerTables = `
  -- What has been written, so that a batch that is written again after a lost connection counts once. See ledger-writer.ts.
  CREATE TABLE ledger_batches (id uuid PRIMARY KEY, written_at timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ledger_batches_by_time ON ledger_batches (written_at);

  CREATE SEQUENCE request_seq;
  -- A partition for each day (of UTC, counted from 1970), which is dropped as a whole. \`seq\` follows the time of arrival.
  CREATE TABLE requests (
    day integer NOT NULL, id text NOT NULL, seq bigint NOT NULL DEFAULT nextval('request_seq'), replica text,
    started_at double precision NOT NULL, key_id text, group_id text, route text NOT NULL, method text NOT NULL,
    capability text, model_asked text, stream smallint NOT NULL, session text, thread text, step text, shadow_of json, tools json,
    outcome text, status integer, error_code text, model_served text, provider text, credential text,
    queue_ms double precision, connect_ms double precision, first_byte_ms double precision, total_ms double precision,
    bytes_in bigint, bytes_out bigint, upstream_request_id text, attempts json, usage json, usage_certainty text,
    cost_usd double precision, client text, client_retries integer, first_content_ms double precision,
    longest_gap_ms double precision, losses json, captured text, cached json, fault text, cassette text, same_answer smallint,
    errors tsvector,
    PRIMARY KEY (day, id)
  ) PARTITION BY RANGE (day);
  CREATE INDEX requests_by_seq ON requests (seq);
  CREATE INDEX requests_by_time ON requests (started_at);
  CREATE INDEX requests_by_key ON requests (key_id, seq);
  CREATE INDEX requests_by_group ON requests (group_id, seq);
  CREATE INDEX requests_by_session ON requests (session, seq) WHERE session IS NOT NULL;
  -- Only shadows, so that other requests cost nothing here.
  CREATE INDEX requests_shadows ON requests ((shadow_of ->> 'id')) WHERE shadow_of IS NOT NULL;
  CREATE INDEX requests_shadow_rows ON requests (seq) WHERE shadow_of IS NOT NULL;
  -- Holds only requests in flight: finds those of a replica that has ended without them.
  CREATE INDEX requests_running ON requests (replica) WHERE outcome IS NULL;
  CREATE INDEX requests_errors ON requests USING gin (errors) WHERE errors IS NOT NULL;

  -- What was captured of requests, by the day of that, for the time that captures are kept.
  CREATE TABLE captures (
    day integer NOT NULL, id text NOT NULL, captured_at double precision NOT NULL, request bytea, response bytea,
    about json NOT NULL, words tsvector NOT NULL,
    PRIMARY KEY (day, id)
  ) PARTITION BY RANGE (day);
  CREATE INDEX captures_by_id ON captures (id);
  CREATE INDEX captures_words ON captures USING gin (words);
  -- The bodies of each attempt, where they differ from the client's.
  CREATE TABLE captured_attempts (
    day integer NOT NULL, id text NOT NULL, position integer NOT NULL, request bytea, response bytea,
    PRIMARY KEY (day, id, position)
  ) PARTITION BY RANGE (day);

  -- Who writes requests. Those in flight of one that has not been seen for long were interrupted: see replicas.ts.
  CREATE TABLE replicas (id text PRIMARY KEY, seen_at timestamptz NOT NULL DEFAULT now());

  -- Which keys, models, clients and so on occur on which days, so that a search reads only those.
  CREATE TABLE request_names (
    dimension text NOT NULL, name text NOT NULL, day integer NOT NULL, PRIMARY KEY (dimension, name, day)
  );

  -- Sums by quarter of an hour and by day. Rows are changed often, and room on their page keeps that cheap. \`part\` spreads rows that many replicas write at the same time; readers add it up.
  CREATE TABLE usage_quarters (
    dimension text NOT NULL, quarter integer NOT NULL, name text NOT NULL, part smallint NOT NULL, ${sums},
    PRIMARY KEY (dimension, name, quarter, part)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_quarters_by_time ON usage_quarters (dimension, quarter);
  CREATE TABLE usage_days (
    dimension text NOT NULL, day integer NOT NULL, name text NOT NULL, part smallint NOT NULL, ${sums},
    PRIMARY KEY (dimension, name, day, part)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_days_by_time ON usage_days (dimension, day);
  -- What keys and groups have used in all, which budgets "in total" need beyond the retention of the sums.
  CREATE TABLE usage_totals (
    dimension text NOT NULL, name text NOT NULL, part smallint NOT NULL, tokens bigint NOT NULL,
    cost_usd double precision NOT NULL,
    PRIMARY KEY (dimension, name, part)
  ) WITH (fillfactor = 70);

  CREATE TABLE key_uses (key_id text PRIMARY KEY, last_used_at double precision NOT NULL);
  -- Requests without a valid key, counted: a row for each minute and reason.
  CREATE TABLE refusals (
    minute integer NOT NULL, reason text NOT NULL, requests bigint NOT NULL, last_at double precision NOT NULL,
    last_client text,
    PRIMARY KEY (minute, reason)
  );
  CREATE TABLE sessions (
    id text PRIMARY KEY, name text, key_id text, group_id text, client text, last_seq bigint NOT NULL, stopped_at double precision,
    -- Of all requests that have ended, and what of it was spent before the session was last resumed.
    cost_usd double precision NOT NULL DEFAULT 0, resumed_usd double precision NOT NULL DEFAULT 0
  );
  CREATE INDEX sessions_by_use ON sessions (last_seq);
  CREATE INDEX sessions_stopped ON sessions (stopped_at) WHERE stopped_at IS NOT NULL;
  -- Jobs whose usage is in the ledger: of several replicas that learn of it, the first books it.
  CREATE TABLE booked_jobs (
    kind text NOT NULL, group_id text NOT NULL, id text NOT NULL, booked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, group_id, id)
  );
  CREATE INDEX booked_jobs_by_time ON booked_jobs (booked_at);
`;

/** Tables for people who sign in, their sessions and tokens, and the audit list. See people/people-store.ts. */
const peopleTables = `
  CREATE TABLE people (
    id text PRIMARY KEY, issuer text NOT NULL, subject text NOT NULL, name text NOT NULL, email text,
    claimed json NOT NULL, signed_in_at double precision NOT NULL
  );
  CREATE TABLE accesses (
    hash text PRIMARY KEY, id text NOT NULL UNIQUE, person_id text NOT NULL, scopes json, name text,
    created_at double precision NOT NULL, expires_at double precision NOT NULL
  );
  CREATE INDEX accesses_of_person ON accesses (person_id, created_at);
  CREATE INDEX accesses_by_end ON accesses (expires_at);
  CREATE TABLE audit (
    seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, at double precision NOT NULL, person_id text, person_name text,
    token_id text, address text, action text NOT NULL, target text, changes json NOT NULL
  );
  CREATE INDEX audit_by_time ON audit (at);
`;

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
      -- Copies of requests that are kept whatever their age: see ports/kept-stores.ts. Request and capture are JSON.
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
