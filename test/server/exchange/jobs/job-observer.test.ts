import { expect, test } from 'vitest';
import { createJobObserver } from '../../../../server/exchange/jobs/object-ownership.ts';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';
import { createJobStore } from '../../../../server/store/sqlite/job-store.ts';
import { findRoute } from '../../../support/routes.ts';
import { oddCuts } from '../../../support/upstream.ts';

const owner = { groupId: 'default', keyId: 'k1', providerId: 'main', credentialId: 'c1', model: 'm' };
const jobs = createJobStore({ database: openSqliteDatabase(':memory:'), log: { warn() {} } });

/** Passes a reply to the watcher in irregular pieces; returns whether the id is known afterwards. */
function watched(
  method: string,
  path: string,
  reply: string,
  id: string,
  more: { status?: number; store?: boolean; type?: string } = {},
) {
  const match = findRoute(method, path);
  const { status = 200, store = true, type = 'application/json' } = more;
  const watch = createJobObserver(jobs, { match, store, stored: null, owner, created() {}, deleted() {} });
  watch?.begin(status, type, {});
  const bytes = Buffer.from(reply);
  const bounds = [...oddCuts(bytes.length), bytes.length];
  bounds.reduce((start, end) => {
    watch?.take(bytes.subarray(start, end));
    return end;
  }, 0);
  return jobs.find(match.route.job?.kind ?? 'video', id, 'default') !== undefined;
}

const stream = { type: 'text/event-stream; charset=utf-8' };

test('a new video or response is known as soon as its id has passed', () => {
  expect(watched('POST', '/videos', '{"object":"video", "id" : "video_1"}', 'video_1')).toBe(true);
  expect(watched('POST', '/responses', 'data: {"response":{"id":"resp_1"}}\n\n', 'resp_1', stream)).toBe(true);
  expect(watched('POST', '/videos/video_1/remix', '{"id":"video_2"}', 'video_2')).toBe(true);
});

test('errors, unstored responses, and other routes make no job', () => {
  expect(watched('POST', '/videos', '{"id":"video_3"}', 'video_3', { status: 400 })).toBe(false);
  expect(watched('POST', '/responses', '{"id":"resp_3"}', 'resp_3', { store: false })).toBe(false);
  expect(watched('GET', '/videos/video_4', '{"id":"video_4"}', 'video_4')).toBe(false);
  expect(watched('POST', '/embeddings', '{"id":"video_5"}', 'video_5')).toBe(false);
});

test('of several ids the one at the top level counts', () => {
  const reply = '{"output":[{"id":"msg_1"}],"metadata":{"id":"mine"},"id":"resp_5","x":{"id":"last"}}\n';
  for (const [id, wanted] of Object.entries({ resp_5: true, msg_1: false, mine: false, last: false })) {
    expect([id, watched('POST', '/responses', reply, id)]).toEqual([id, wanted]);
  }
  const event = 'data: {"id":"evt_1","response":{"object":"response","id":"resp_6","output":[{"id":"msg_6"}]}}\n\n';
  for (const [id, wanted] of Object.entries({ evt_1: false, resp_6: true, msg_6: false })) {
    expect([id, watched('POST', '/responses', event, id, stream)]).toEqual([id, wanted]);
  }
});

test('any status of success makes a job', () => {
  expect(watched('POST', '/videos', '{"id":"video_201"}', 'video_201', { status: 201 })).toBe(true);
  expect(watched('POST', '/videos', '{"id":"video_302"}', 'video_302', { status: 302 })).toBe(false);
});

test('an id that is no text or empty is ignored', () => {
  expect(watched('POST', '/videos', '{"id":7}', '7')).toBe(false);
  expect(watched('POST', '/videos', '{"id":""}', '')).toBe(false);
  expect(watched('POST', '/videos', '{"id":"\\uZZZZ"}', '\\uZZZZ')).toBe(false);
});

test('the first id of a huge reply counts, if it stands near the beginning', () => {
  const filler = 'y'.repeat(2 * 1024 * 1024);
  expect(watched('POST', '/videos', `{"id":"video_8","x":"${filler}"}`, 'video_8')).toBe(true);
  expect(watched('POST', '/videos', `{"x":"${filler}","id":"video_9"}`, 'video_9')).toBe(false);
});

test('a deleted job is forgotten, one that could not be deleted is not', () => {
  watched('POST', '/videos', '{"id":"video_7"}', 'video_7');
  expect(watched('DELETE', '/videos/video_7', '{"error":{}}', 'video_7', { status: 500 })).toBe(true);
  expect(watched('DELETE', '/videos/video_7', '{"deleted":true}', 'video_7')).toBe(false);
});

test('a job is forgotten with an answer that has no body', () => {
  watched('POST', '/videos', '{"id":"video_10"}', 'video_10');
  const watch = createJobObserver(jobs, {
    match: findRoute('DELETE', '/videos/video_10'),
    store: true,
    stored: null,
    owner,
    created() {},
    deleted() {},
  });
  watch?.begin(204, '', {});
  expect(jobs.find('video', 'video_10', 'default')).toBeUndefined();
});
