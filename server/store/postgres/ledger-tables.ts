/** The ledger's tables, as created by its first migration. */

const sums = `
  requests bigint NOT NULL, errors bigint NOT NULL, refused bigint NOT NULL,
  input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cached_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL, seconds double precision NOT NULL, characters bigint NOT NULL, images bigint NOT NULL,
  cost_usd double precision NOT NULL, unpriced_requests bigint NOT NULL`;

export const ledgerTables = `
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
