-- The ledger of a data folder that 0c3936b6 has made: shadow requests, videos that were edited, extended and cast, and a replayed request.
CREATE TABLE requests (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, started_at REAL NOT NULL, key_id TEXT, group_id TEXT,
  route TEXT NOT NULL, method TEXT NOT NULL, capability TEXT, model_asked TEXT, stream INTEGER NOT NULL,
  outcome TEXT, status INTEGER, error_code TEXT, model_served TEXT, provider TEXT, credential TEXT,
  queue_ms REAL, connect_ms REAL, first_byte_ms REAL, total_ms REAL, bytes_in INTEGER, bytes_out INTEGER,
  upstream_request_id TEXT, attempts TEXT, -- JSON, only where the row does not say it all: see ledger/rows.ts
  usage TEXT, usage_certainty TEXT, cost_usd REAL, client TEXT, client_retries INTEGER
  , first_content_ms REAL, longest_gap_ms REAL, losses TEXT, captured, cached TEXT, fault TEXT, session TEXT, thread TEXT, step TEXT, tools TEXT, cassette TEXT, shadow_of TEXT, same_answer INTEGER);
CREATE INDEX requests_running ON requests (seq) WHERE outcome IS NULL;
CREATE TABLE usage_cells (
  dimension TEXT NOT NULL, quarter INTEGER NOT NULL, name TEXT NOT NULL,
  requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
  characters INTEGER NOT NULL, images INTEGER NOT NULL, cost_usd REAL NOT NULL, unpriced_requests INTEGER NOT NULL, refused INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (dimension, quarter, name)
  ) WITHOUT ROWID;
CREATE TABLE key_uses (key_id TEXT PRIMARY KEY, last_used_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE captures (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, captured_at REAL NOT NULL, request BLOB, response BLOB
  , request_headers TEXT, response_headers TEXT, about TEXT, request_seq INTEGER);
CREATE INDEX captures_by_id ON captures (id);
CREATE TABLE jobs (
  kind TEXT NOT NULL, group_id TEXT NOT NULL, id TEXT NOT NULL, provider_id TEXT NOT NULL, credential_id TEXT,
  model TEXT, key_id TEXT, created_at REAL NOT NULL, last_used_at REAL NOT NULL DEFAULT 0, upstream_id TEXT, owed TEXT,
  PRIMARY KEY (kind, group_id, id)
  ) WITHOUT ROWID;
CREATE INDEX jobs_by_time ON jobs (kind, group_id, created_at, id);
CREATE INDEX jobs_by_use ON jobs (last_used_at);
CREATE TABLE usage_totals (
  dimension TEXT NOT NULL, name TEXT NOT NULL, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
  PRIMARY KEY (dimension, name)
  ) WITHOUT ROWID;
CREATE TABLE usage_days (
  dimension TEXT NOT NULL, day INTEGER NOT NULL, name TEXT NOT NULL,
  requests INTEGER NOT NULL, errors INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
  characters INTEGER NOT NULL, images INTEGER NOT NULL, cost_usd REAL NOT NULL, unpriced_requests INTEGER NOT NULL, refused INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (dimension, day, name)
  ) WITHOUT ROWID;
CREATE INDEX jobs_owing ON jobs (created_at) WHERE owed IS NOT NULL;
CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE refusals (
  seq INTEGER PRIMARY KEY, minute INTEGER NOT NULL, reason TEXT NOT NULL, requests INTEGER NOT NULL,
  last_at REAL NOT NULL, last_client TEXT,
  UNIQUE (minute, reason)
  );
CREATE INDEX jobs_by_id ON jobs (id);
CREATE TABLE reasoning (
  key_id TEXT NOT NULL, call_id TEXT NOT NULL, kept_at REAL NOT NULL, reasoning TEXT NOT NULL,
  PRIMARY KEY (key_id, call_id)
  );
CREATE INDEX reasoning_by_time ON reasoning (kept_at);
CREATE INDEX captures_by_request ON captures (request_seq) WHERE request_seq IS NOT NULL;
CREATE TABLE captured_attempts (
  capture_seq INTEGER NOT NULL, position INTEGER NOT NULL, request BLOB, response BLOB,
  PRIMARY KEY (capture_seq, position)
  );
CREATE TRIGGER captures_deleted AFTER DELETE ON captures BEGIN
  DELETE FROM captured_attempts WHERE capture_seq = old.seq;
  END;
CREATE TABLE request_names (
  dimension TEXT NOT NULL, name TEXT NOT NULL, block INTEGER NOT NULL,
  PRIMARY KEY (dimension, name, block)
  ) WITHOUT ROWID;
CREATE VIRTUAL TABLE captured_text USING fts5 (text, content = '', contentless_delete = 1);
CREATE VIRTUAL TABLE error_text USING fts5 (text, content = '', contentless_delete = 1);
CREATE TRIGGER captured_text_deleted AFTER DELETE ON captures BEGIN
  DELETE FROM captured_text WHERE rowid = old.seq;
  END;
CREATE INDEX requests_failed ON requests (seq) WHERE outcome NOT IN ('ok', 'client-gone');
CREATE INDEX requests_by_session ON requests (session, seq) WHERE session IS NOT NULL;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, key_id TEXT, group_id TEXT, client TEXT, last_seq INTEGER NOT NULL, stopped_at REAL
  , cost_usd REAL NOT NULL DEFAULT 0, resumed_usd REAL NOT NULL DEFAULT 0, name TEXT) WITHOUT ROWID;
CREATE INDEX sessions_by_use ON sessions (last_seq);
CREATE INDEX sessions_stopped ON sessions (stopped_at) WHERE stopped_at IS NOT NULL;
CREATE INDEX requests_shadows ON requests (shadow_of ->> 'id') WHERE shadow_of IS NOT NULL;
CREATE INDEX requests_shadow_rows ON requests (seq) WHERE shadow_of IS NOT NULL;
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (1, 'req_01a22362a1c7000da4b43657cd3e84eb', 1795889996231, 'mine', 'default', '/v1/chat/completions', 'POST', 'chat', 'gpt-x', 0, 'ok', 200, 'gpt-x', 'one', 30.788252000000284, 40.744150999999874, 84.46484400000008, 227.3783830000002, 79, 241, '{"inputTokens":12,"outputTokens":5}', 'reported', 0.017, 'curl/8', 0, 'shadow');
INSERT INTO requests (seq, id, started_at, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured, shadow_of, same_answer)
  VALUES (2, 'req_01a22362a291aee5cd013ac1d28161a4', 1795889996433, 'default', '/v1/chat/completions', 'POST', 'chat', 'two/cheap', 0, 'ok', 200, 'cheap', 'two', 89.47366000000011, 9.987121000000116, 126.06936600000017, 127.99071200000026, 79, 248, '{"inputTokens":12,"outputTokens":5}', 'reported', 0.0017, 'curl/8', 0, 'shadow', '{"id":"req_01a22362a1c7000da4b43657cd3e84eb","provider":"one","model":"gpt-x","costUsd":0.017,"firstByteMs":84.46484400000008,"totalMs":227.3783830000002,"outputTokens":5}', 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (3, 'req_01a22362a2f5c6e8cf3fc9717db5d617', 1795889996533, 'mine', 'default', '/v1/chat/completions', 'POST', 'chat', 'gpt-x', 0, 'ok', 200, 'gpt-x', 'one', 13.240144999999757, 11.791975000000093, 107.00552300000027, 139.65770299999986, 71, 241, '{"inputTokens":12,"outputTokens":5}', 'reported', 0.017, 'curl/8', 0, 'shadow');
INSERT INTO requests (seq, id, started_at, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured, shadow_of, same_answer)
  VALUES (4, 'req_01a22362a3704e35e6d151db02082fb7', 1795889996656, 'default', '/v1/chat/completions', 'POST', 'chat', 'two/cheap', 0, 'ok', 200, 'cheap', 'two', 31.401448000000073, 59.7700420000001, 103.54644600000029, 107.36782700000003, 71, 248, '{"inputTokens":12,"outputTokens":5}', 'reported', 0.0017, 'curl/8', 0, 'shadow', '{"id":"req_01a22362a2f5c6e8cf3fc9717db5d617","provider":"one","model":"gpt-x","costUsd":0.017,"firstByteMs":107.00552300000027,"totalMs":139.65770299999986,"outputTokens":5}', 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, total_ms, bytes_in, bytes_out, usage_certainty, cost_usd, client, client_retries, captured, cassette)
  VALUES (5, 'req_01a22362a42584f2420349bdf8bfe3fe', 1795889996837, 'rec', 'recorded', '/v1/chat/completions', 'POST', 'chat', 'gpt-x', 0, 'ok', 200, 203.55313699999988, 68, 240, 'none', 0, 'curl/8', 0, 0, 'replayed');
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (6, 'req_01a22362a57a279d15438dcf754b6522', 1795889997178, 'mine', 'default', '/v1/videos', 'POST', 'videos', 'sora-2', 0, 'ok', 200, 'sora-2', 'one', 18.814930999999888, 0.22245900000007168, 35.94558599999982, 52.46782799999937, 339, 135, '{"seconds":4}', 'reported', 0.4, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (7, 'req_01a22362a5ca66c1feb0793c63218672', 1795889997259, 'mine', 'default', '/v1/videos', 'POST', 'videos', 'sora-2', 0, 'ok', 200, 'sora-2', 'one', 13.377849999999853, 2.3480399999998554, 20.510995999999977, 25.33688499999971, 339, 135, '{"seconds":4}', 'reported', 0.4, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (8, 'req_01a22362a5fb7594dccae17a3d5ccef9', 1795889997307, 'mine', 'default', '/v1/videos/extensions', 'POST', 'videos', 'sora-2', 0, 'ok', 200, 'one', 0.9496559999997771, 0.2192829999994501, 38.239197999999305, 43.661840000000666, 80, 135, '{"seconds":4}', 'reported', 0.4, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (9, 'req_01a22362a6a3384b085db2515f0b7068', 1795889997475, 'mine', 'default', '/v1/videos/edits', 'POST', 'videos', 'sora-2', 0, 'ok', 200, 'one', 9.210384000000886, 0.2608110000001034, 18.12225800000033, 18.581178000000364, 66, 135, '{"seconds":4}', 'reported', 0.4, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, stream, outcome, status, error_code, total_ms, bytes_in, bytes_out, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (10, 'req_01a22362a72076c6d71187d42e8c8fa5', 1795889997600, 'mine', 'default', '/v1/videos/characters', 'POST', 'videos', 0, 'error', 400, 'model_missing', 7.155228000000534, 1471, 0, 'none', 0, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, stream, outcome, status, total_ms, bytes_in, bytes_out, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (11, 'req_01a22362a7cede1e664d31ea45a26a7a', 1795889997774, 'mine', 'default', '/v1/videos', 'GET', 'videos', 0, 'ok', 200, 13.5028599999996, 0, 0, 'none', 0, 'curl/8', 0, 0);
INSERT INTO requests (seq, id, started_at, key_id, group_id, route, method, capability, model_asked, stream, outcome, status, model_served, provider, queue_ms, connect_ms, first_byte_ms, total_ms, bytes_in, bytes_out, usage_certainty, cost_usd, client, client_retries, captured)
  VALUES (12, 'req_01a223630083182b8f52baecc0a48532', 1795890020483, 'mine', 'default', '/v1/videos/characters', 'POST', 'videos', 'sora-2', 0, 'ok', 200, 'sora-2', 'one', 1.868029999997816, 51.010770999997476, 125.99229799999739, 172.66411999999764, 1456, 135, 'none', 0, 'curl/8', 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('day', 1995433, '', 12, 1, 48, 20, 0, 0, 16, 0, 0, 1.6374, 0, 1);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('group', 1995433, 'default', 9, 1, 24, 10, 0, 0, 16, 0, 0, 1.634, 0, 1);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('group', 1995433, 'recorded', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('group', 1995433, 'shadow:default', 2, 0, 24, 10, 0, 0, 0, 0, 0, 0.0034, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('key', 1995433, 'mine', 9, 1, 24, 10, 0, 0, 16, 0, 0, 1.634, 0, 1);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('key', 1995433, 'rec', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('key', 1995433, 'shadow:default', 2, 0, 24, 10, 0, 0, 0, 0, 0, 0.0034, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('model', 1995433, '', 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('model', 1995433, 'cheap', 2, 0, 24, 10, 0, 0, 0, 0, 0, 0.0034, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('model', 1995433, 'gpt-x', 3, 0, 24, 10, 0, 0, 0, 0, 0, 0.034, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('model', 1995433, 'sora-2', 5, 0, 0, 0, 0, 0, 16, 0, 0, 1.6, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('provider', 1995433, '', 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('provider', 1995433, 'one', 7, 0, 24, 10, 0, 0, 16, 0, 0, 1.634, 0, 0);
INSERT INTO usage_cells (dimension, quarter, name, requests, errors, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, seconds, characters, images, cost_usd, unpriced_requests, refused)
  VALUES ('provider', 1995433, 'two', 2, 0, 24, 10, 0, 0, 0, 0, 0, 0.0034, 0, 0);
INSERT INTO key_uses (key_id, last_used_at)
  VALUES ('mine', 1795890020483);
INSERT INTO key_uses (key_id, last_used_at)
  VALUES ('rec', 1795889996837);
INSERT INTO jobs (kind, group_id, id, provider_id, model, key_id, created_at, last_used_at)
  VALUES ('character', 'default', 'video_9f411fbc', 'one', 'sora-2', 'mine', 1795890020655, 1795890020655);
INSERT INTO jobs (kind, group_id, id, provider_id, model, key_id, created_at, last_used_at)
  VALUES ('video', 'default', 'video_4e54543d', 'one', 'sora-2', 'mine', 1795889997346, 1795889997346);
INSERT INTO jobs (kind, group_id, id, provider_id, model, key_id, created_at, last_used_at)
  VALUES ('video', 'default', 'video_9ddbda9c', 'one', 'sora-2', 'mine', 1795889997493, 1795889997493);
INSERT INTO jobs (kind, group_id, id, provider_id, model, key_id, created_at, last_used_at)
  VALUES ('video', 'default', 'video_9ddbe48a', 'one', 'sora-2', 'mine', 1795889997280, 1795889997280);
INSERT INTO jobs (kind, group_id, id, provider_id, model, key_id, created_at, last_used_at)
  VALUES ('video', 'default', 'video_cd4f88e0', 'one', 'sora-2', 'mine', 1795889997216, 1795889997216);
INSERT INTO usage_totals (dimension, name, tokens, cost_usd)
  VALUES ('group', 'default', 34, 1.634);
INSERT INTO usage_totals (dimension, name, tokens, cost_usd)
  VALUES ('group', 'shadow:default', 34, 0.0034);
INSERT INTO usage_totals (dimension, name, tokens, cost_usd)
  VALUES ('key', 'mine', 34, 1.634);
INSERT INTO usage_totals (dimension, name, tokens, cost_usd)
  VALUES ('key', 'shadow:default', 34, 0.0034);
INSERT INTO facts (name, value)
  VALUES ('first named request', 1);
INSERT INTO facts (name, value)
  VALUES ('known time', 1795889949040.144);
INSERT INTO request_names (dimension, name, block)
  VALUES ('capability', 'chat', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('capability', 'videos', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('client', 'curl/7.88.1', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('error', 'model_missing', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('group', 'default', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('group', 'recorded', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('key', 'mine', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('key', 'rec', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('model', 'cheap', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('model', 'gpt-x', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('model', 'sora-2', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('model', 'two/cheap', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('outcome', 'error', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('outcome', 'ok', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('provider', 'one', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('provider', 'two', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('status', '200', 0);
INSERT INTO request_names (dimension, name, block)
  VALUES ('status', '400', 0);
PRAGMA user_version = 23;
