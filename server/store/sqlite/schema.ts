/** The tables of the databases, as migrations. */
import type { DatabaseSync } from 'node:sqlite';

/** The file was written by a newer version of Sluice. */
export class NewerDatabase extends Error {}

/**
 * `migrations[n]` converts a file from version n to n + 1. Published ones are never edited; a change is a new entry.
 */
export const ledgerMigrations: readonly string[] = [
  `
  -- No index over all rows beside the rowid, so that a row costs the same at a million rows as at none: an index on the random id alone
  -- trebles it. Queries go by \`seq\`, which follows the time of arrival.
  CREATE TABLE requests (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, started_at REAL NOT NULL, key_id TEXT, group_id TEXT,
    route TEXT NOT NULL, method TEXT NOT NULL, capability TEXT, model_asked TEXT, stream INTEGER NOT NULL,
    outcome TEXT, status INTEGER, error_code TEXT, model_served TEXT, provider TEXT, credential TEXT,
    queue_ms REAL, connect_ms REAL, first_byte_ms REAL, total_ms REAL, bytes_in INTEGER, bytes_out INTEGER,
    upstream_request_id TEXT, attempts TEXT, -- JSON, only where the row does not say it all: see rules/rows.ts
    usage TEXT, usage_certainty TEXT, cost_usd REAL, client TEXT, client_retries INTEGER
  );
  -- Holds only requests in flight: finds those that a crash left so, without reading the table at the start.
  CREATE INDEX requests_running ON requests (seq) WHERE outcome IS NULL;
  -- Sums by quarter of an hour (every time zone's days begin at one), so that a summary reads these and not the requests.
  CREATE TABLE usage_cells (
    dimension TEXT NOT NULL, quarter INTEGER NOT NULL, name TEXT NOT NULL,
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    characters INTEGER NOT NULL, images INTEGER NOT NULL, cost_usd REAL NOT NULL, unpriced_requests INTEGER NOT NULL,
    PRIMARY KEY (dimension, quarter, name)
  ) WITHOUT ROWID;
  CREATE TABLE key_uses (key_id TEXT PRIMARY KEY, last_used_at REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE captures (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, captured_at REAL NOT NULL, request BLOB, response BLOB
  );
  CREATE INDEX captures_by_id ON captures (id);
  CREATE TABLE jobs (
    kind TEXT NOT NULL, group_id TEXT NOT NULL, id TEXT NOT NULL, provider_id TEXT NOT NULL, credential_id TEXT,
    model TEXT, key_id TEXT, created_at REAL NOT NULL,
    PRIMARY KEY (kind, group_id, id)
  ) WITHOUT ROWID;
  CREATE INDEX jobs_by_time ON jobs (kind, group_id, created_at, id);
  `,
  `
  ALTER TABLE captures ADD COLUMN request_headers TEXT; -- JSON
  ALTER TABLE captures ADD COLUMN response_headers TEXT;
  `,
  `
  -- So that jobs can be forgotten that nobody asks for any more.
  ALTER TABLE jobs ADD COLUMN last_used_at REAL NOT NULL DEFAULT 0;
  UPDATE jobs SET last_used_at = created_at;
  CREATE INDEX jobs_by_use ON jobs (last_used_at);
  `,
  `
  -- What keys and groups have used in all, which budgets "in total" need beyond the retention of the sums.
  CREATE TABLE usage_totals (
    dimension TEXT NOT NULL, name TEXT NOT NULL, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
    PRIMARY KEY (dimension, name)
  ) WITHOUT ROWID;
  INSERT INTO usage_totals SELECT dimension, name, sum(input_tokens + output_tokens), sum(cost_usd) FROM usage_cells
    WHERE dimension IN ('key', 'group') GROUP BY dimension, name;
  `,
  `
  -- Sums of whole days of UTC, made of the quarters of an hour when the day is over.
  CREATE TABLE usage_days (
    dimension TEXT NOT NULL, day INTEGER NOT NULL, name TEXT NOT NULL,
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    characters INTEGER NOT NULL, images INTEGER NOT NULL, cost_usd REAL NOT NULL, unpriced_requests INTEGER NOT NULL,
    PRIMARY KEY (dimension, day, name)
  ) WITHOUT ROWID;
  `,
  `
  -- Of the only attempt of a request that went well, which has no JSON of its own.
  ALTER TABLE requests ADD COLUMN first_content_ms REAL;
  ALTER TABLE requests ADD COLUMN longest_gap_ms REAL;
  `,
  `
  -- Of a response that another provider went on with: it knows its own id alone.
  ALTER TABLE jobs ADD COLUMN upstream_id TEXT;
  `,
  `
  -- Of a response in the background whose usage is still to be told: what is reserved for it, as JSON.
  ALTER TABLE jobs ADD COLUMN owed TEXT;
  CREATE INDEX jobs_owing ON jobs (created_at) WHERE owed IS NOT NULL;
  `,
  `
  -- What is to be remembered of the file as a whole: the last known time (retention.ts).
  CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
  -- Requests without a valid key, counted: a row for each minute and reason. See refusals.ts.
  CREATE TABLE refusals (
    seq INTEGER PRIMARY KEY, minute INTEGER NOT NULL, reason TEXT NOT NULL, requests INTEGER NOT NULL,
    last_at REAL NOT NULL, last_client TEXT,
    UNIQUE (minute, reason)
  );
  `,
  `
  -- Whether an id that a path names is another group's.
  CREATE INDEX jobs_by_id ON jobs (id);
  `,
  `
  -- What a translation dropped and emulated, as JSON; null for requests that were not translated.
  ALTER TABLE requests ADD COLUMN losses TEXT;
  `,
  `
  -- What models have thought before a call of a tool, for clients that cannot carry it: see reasoning-store.ts.
  CREATE TABLE reasoning (
    key_id TEXT NOT NULL, call_id TEXT NOT NULL, kept_at REAL NOT NULL, reasoning TEXT NOT NULL,
    PRIMARY KEY (key_id, call_id)
  );
  CREATE INDEX reasoning_by_time ON reasoning (kept_at);
  `,
  `
  -- Why the request was captured; 0: it was not. Null: recorded before this column.
  ALTER TABLE requests ADD COLUMN captured;
  -- Everything about a captured exchange except bodies, as JSON: see capture-rows.ts. Null: captured before this column.
  ALTER TABLE captures ADD COLUMN about TEXT;
  -- The request's \`seq\`; null: captured before this column.
  ALTER TABLE captures ADD COLUMN request_seq INTEGER;
  CREATE INDEX captures_by_request ON captures (request_seq) WHERE request_seq IS NOT NULL;
  -- The bodies of each attempt, where they differ from the client's.
  CREATE TABLE captured_attempts (
    capture_seq INTEGER NOT NULL, position INTEGER NOT NULL, request BLOB, response BLOB,
    PRIMARY KEY (capture_seq, position)
  );
  CREATE TRIGGER captures_deleted AFTER DELETE ON captures BEGIN
    DELETE FROM captured_attempts WHERE capture_seq = old.seq;
  END;
  `,
  `
  -- Which keys, models, clients and so on occur in which blocks of requests: see request-names.ts. Rows before the first
  -- named request have none.
  CREATE TABLE request_names (
    dimension TEXT NOT NULL, name TEXT NOT NULL, block INTEGER NOT NULL,
    PRIMARY KEY (dimension, name, block)
  ) WITHOUT ROWID;
  INSERT INTO facts SELECT 'first named request', coalesce(max(seq), 0) + 1 FROM requests;
  -- Only those that failed, so that most requests cost nothing here.
  CREATE INDEX requests_failed ON requests (seq) WHERE outcome IN ('error', 'stream-broken', 'interrupted');
  -- Full-text indexes that store no text: see text-index.ts. The row ids are those of captures and of requests.
  CREATE VIRTUAL TABLE captured_text USING fts5 (text, content = '', contentless_delete = 1);
  CREATE VIRTUAL TABLE error_text USING fts5 (text, content = '', contentless_delete = 1);
  CREATE TRIGGER captured_text_deleted AFTER DELETE ON captures BEGIN
    DELETE FROM captured_text WHERE rowid = old.seq;
  END;
  `,
  `
  -- Those of the errors that Sluice refused itself: the callers' mistakes, apart from the providers' failures.
  ALTER TABLE usage_cells ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage_days ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- The same requests as before. SQLite compares with two values, but builds a table of three for each row that is inserted,
  -- which took as long as the rest of the insert.
  DROP INDEX requests_failed;
  CREATE INDEX requests_failed ON requests (seq) WHERE outcome NOT IN ('ok', 'client-gone');
  `,
  `
  -- What the response cache did, as JSON; null for requests that it had nothing to do with.
  ALTER TABLE requests ADD COLUMN cached TEXT;
  `,
  `
  -- The fault on purpose that the client met; null: none.
  ALTER TABLE requests ADD COLUMN fault TEXT;
  `,
  `
  ALTER TABLE requests ADD COLUMN session TEXT;
  ALTER TABLE requests ADD COLUMN thread TEXT;
  ALTER TABLE requests ADD COLUMN step TEXT;
  -- Only those of sessions, so that other requests cost nothing here.
  CREATE INDEX requests_by_session ON requests (session, seq) WHERE session IS NOT NULL;
  -- Which sessions there are, by their last request. Sums are read from their requests: see rules/session-queries.ts.
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, key_id TEXT, group_id TEXT, client TEXT, last_seq INTEGER NOT NULL, stopped_at REAL
  ) WITHOUT ROWID;
  CREATE INDEX sessions_by_use ON sessions (last_seq);
  CREATE INDEX sessions_stopped ON sessions (stopped_at) WHERE stopped_at IS NOT NULL;
  `,
  `
  -- The known cost of all requests that have ended, and what of it was spent before the session was last resumed.
  ALTER TABLE sessions ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN resumed_usd REAL NOT NULL DEFAULT 0;
  UPDATE sessions SET cost_usd = (
    SELECT coalesce(sum(cost_usd), 0) FROM requests WHERE session = sessions.id AND outcome IS NOT NULL
  );
  -- The calls of tools whose results the request carries, as JSON; null: none.
  ALTER TABLE requests ADD COLUMN tools TEXT;
  `,
  `
  -- What a cassette did: 'replayed' or 'recorded'; null: nothing.
  ALTER TABLE requests ADD COLUMN cassette TEXT;
  `,
  `
  -- Of a shadow request: the client's request that it repeats, as JSON, and whether both answers say the same.
  ALTER TABLE requests ADD COLUMN shadow_of TEXT;
  ALTER TABLE requests ADD COLUMN same_answer INTEGER;
  -- Only shadows, so that other requests cost nothing here.
  CREATE INDEX requests_shadows ON requests (shadow_of ->> 'id') WHERE shadow_of IS NOT NULL;
  CREATE INDEX requests_shadow_rows ON requests (seq) WHERE shadow_of IS NOT NULL;
  `,
  `
  -- As x-sluice-session named it.
  ALTER TABLE sessions ADD COLUMN name TEXT;
  `,
  `
  -- Earlier versions took a wrong \`seq\` for requests that ended later than in the batch in which they began. What they derived from
  -- it is derived again, from the newest of these requests to the oldest: see repair.ts.
  INSERT INTO facts SELECT 'last request to repair', max(seq) FROM requests HAVING max(seq) IS NOT NULL;
  UPDATE facts SET value = (SELECT coalesce(max(seq), 0) + 1 FROM requests) WHERE name = 'first named request';
  INSERT INTO error_text (error_text) VALUES ('delete-all');
  -- Offers the names of requests that are not repaired yet. Empty afterwards.
  ALTER TABLE request_names RENAME TO earlier_names;
  CREATE TABLE request_names (
    dimension TEXT NOT NULL, name TEXT NOT NULL, block INTEGER NOT NULL,
    PRIMARY KEY (dimension, name, block)
  ) WITHOUT ROWID;
  `,
  `
  -- The most input that the object adds to a request that refers to it; null: unknown.
  ALTER TABLE jobs ADD COLUMN input_tokens REAL;
  `,
  `
  -- The session that made the job, which is billed for it.
  ALTER TABLE jobs ADD COLUMN session TEXT;
  `,
  `
  -- In which hours the requests of each block began: see request-names.ts. Those until the last untimed one have none.
  INSERT INTO facts SELECT 'last untimed request', max(seq) FROM requests HAVING max(seq) IS NOT NULL;
  `,
  `
  -- What each capture takes, with its attempts, and all of them: see capture-room.ts.
  CREATE TABLE capture_sizes (seq INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
  INSERT INTO capture_sizes SELECT seq,
    coalesce(length(request), 0) + coalesce(length(response), 0) + coalesce(octet_length(about), 0) + (
      SELECT coalesce(sum(coalesce(length(each.request), 0) + coalesce(length(each.response), 0)), 0)
      FROM captured_attempts AS each WHERE capture_seq = captures.seq
    ) FROM captures;
  INSERT INTO facts SELECT 'captured bytes', coalesce(sum(bytes), 0) FROM capture_sizes;
  CREATE TRIGGER capture_sized AFTER INSERT ON capture_sizes BEGIN
    UPDATE facts SET value = value + new.bytes WHERE name = 'captured bytes';
  END;
  CREATE TRIGGER capture_size_deleted AFTER DELETE ON capture_sizes BEGIN
    UPDATE facts SET value = value - old.bytes WHERE name = 'captured bytes';
  END;
  CREATE TRIGGER captures_deleted_sizes AFTER DELETE ON captures BEGIN
    DELETE FROM capture_sizes WHERE seq = old.seq;
  END;
  `,
  `
  -- Copies of requests that are kept whatever their age: see ports/kept-stores.ts. \`request\` and \`capture\` are JSON.
  CREATE TABLE pins (
    id TEXT PRIMARY KEY, started_at REAL NOT NULL, pinned_at REAL NOT NULL, note TEXT, request TEXT NOT NULL, capture TEXT
  );
  `,
  `
  -- Refused requests without rows, counted by key as well: see refusals.ts. Without a valid key the key is ''.
  CREATE TABLE refusals_by_key (
    seq INTEGER PRIMARY KEY, minute INTEGER NOT NULL, key_id TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL,
    requests INTEGER NOT NULL, last_at REAL NOT NULL, last_client TEXT,
    UNIQUE (minute, key_id, reason)
  );
  INSERT INTO refusals_by_key SELECT seq, minute, '', reason, requests, last_at, last_client FROM refusals;
  DROP TABLE refusals;
  ALTER TABLE refusals_by_key RENAME TO refusals;
  `,
];

/** `budgets.sqlite`: see budget-sums.ts. */
export const budgetMigrations: readonly string[] = [
  `
  -- Times are infinite at both ends for a budget in total.
  CREATE TABLE budget_sums (
    scope TEXT NOT NULL, id TEXT NOT NULL, per TEXT NOT NULL, since_ms REAL NOT NULL,
    start_ms REAL NOT NULL, end_ms REAL NOT NULL, usd REAL NOT NULL, tokens REAL NOT NULL, unpriced INTEGER NOT NULL,
    PRIMARY KEY (scope, id, per)
  ) WITHOUT ROWID;
  `,
];

/** Migrates a database to the current version. Throws NewerDatabase if its version is higher. */
export function migrateSqlite(raw: DatabaseSync, migrations: readonly string[]): void {
  const version = Number(raw.prepare('PRAGMA user_version').get()?.user_version);
  if (version > migrations.length) throw new NewerDatabase(`its version ${version} is that of a newer Sluice`);
  migrations.slice(version).forEach((sql, index) => {
    raw.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version + index + 1}; COMMIT`);
  });
}
