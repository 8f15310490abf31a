import { expect, test } from 'vitest';
import { openDatabase } from '../../../server/database.ts';
import { findRoute } from '../../../server/http/inference-routes.ts';
import { jobWatcher } from '../../../server/http/job-watcher.ts';
import { createJobStore } from '../../../server/jobs/job-store.ts';
import { oddCuts } from '../../support/upstream.ts';

const owner = { groupId: 'default', keyId: 'k1', providerId: 'main', credentialId: 'c1', model: 'm' };
const jobs = createJobStore({ database: openDatabase(':memory:'), log: { warn() {} } });

/** Shows a reply to the watcher, cut into odd pieces; returns whether the id is known then. */
function watched(
  method: string,
  path: string,
  reply: string,
  id: string,
  more: { status?: number; store?: boolean } = {},
) {
  const match = findRoute(method, path);
  const { status = 200, store = true } = more;
  const watch = jobWatcher(jobs, { match, store, status: () => status, owner });
  const bytes = Buffer.from(reply);
  const bounds = [...oddCuts(bytes.length), bytes.length];
  bounds.reduce((start, end) => {
    watch?.(bytes.subarray(start, end));
    return end;
  }, 0);
  return jobs.find(match.route.job?.kind ?? 'video', id, 'default') !== undefined;
}

test('a new video or response is known as soon as its id has passed', () => {
  expect(watched('POST', '/videos', '{"object":"video", "id" : "video_1"}', 'video_1')).toBe(true);
  expect(watched('POST', '/responses', 'data: {"response":{"id":"resp_1"}}\n\n', 'resp_1')).toBe(true);
  expect(watched('POST', '/videos/video_1/remix', '{"id":"video_2"}', 'video_2')).toBe(true);
});

test('errors, unstored responses, and other routes make no job', () => {
  expect(watched('POST', '/videos', '{"id":"video_3"}', 'video_3', { status: 400 })).toBe(false);
  expect(watched('POST', '/responses', '{"id":"resp_3"}', 'resp_3', { store: false })).toBe(false);
  expect(watched('GET', '/videos/video_4', '{"id":"video_4"}', 'video_4')).toBe(false);
  expect(watched('POST', '/embeddings', '{"id":"video_5"}', 'video_5')).toBe(false);
});

test('an id past the first 64 kB is not looked for', () => {
  const reply = `{"x":"${'y'.repeat(70_000)}","id":"video_6"}`;
  expect(watched('POST', '/videos', reply, 'video_6')).toBe(false);
});

test('a deleted job is forgotten, one that could not be deleted is not', () => {
  watched('POST', '/videos', '{"id":"video_7"}', 'video_7');
  expect(watched('DELETE', '/videos/video_7', '{"error":{}}', 'video_7', { status: 500 })).toBe(true);
  expect(watched('DELETE', '/videos/video_7', '{"deleted":true}', 'video_7')).toBe(false);
});
