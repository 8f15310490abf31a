/** Equal requests that arrive while the first one is running, in a group that shares its answer among them. */
import { beforeEach, expect, test } from 'vitest';
import { begun } from '../../support/begun.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, type TestGateway } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream } from '../../support/upstream.ts';
import { askOf, completion, keyOne, question, startCached, startCompletions } from './cached-gateway.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startCompletions());
});

const ask = (body: object) => askOf(sluice, body);

/** Callbacks that let the provider answer each request. */
let go: (() => void)[] = [];

async function startHeld(): Promise<void> {
  go = [];
  upstream.answer((_request, response) => {
    go.push(() => json(response, completion()));
  });
  sluice = await stopLater(
    startCached(upstream, { coalesce: true }, { keys: [keyOne, { ...keyOne, id: 'k2', hash: hashOf('second') }] }),
  );
}

const running = () => sluice.gateway.query({ type: 'requests', filter: { outcome: 'running' } });
const untilRunning = (count: number) =>
  eventually(async () => ((await running()).requests.length === count ? true : null));

test('equal requests share one call to the provider where the group wants it', async () => {
  await startHeld();
  const asked = [1, 2, 3].map(() => begun(ask(question)));
  await untilRunning(3);
  go[0]?.();
  const texts = await Promise.all(asked.map(async (each) => (await each).text()));
  expect(new Set(texts).size).toBe(1);
  expect(upstream.seen).toHaveLength(1);
  const [view] = await sluice.gateway.query({ type: 'caches' });
  expect(view).toMatchObject({ misses: 1, shared: 2, hits: 0 });
});

test('equal requests go to the provider themselves if the first one fails', async () => {
  await startHeld();
  const leader = new AbortController();
  const first = begun(leave(leader.signal));
  await eventually(async () => (upstream.seen.length === 1 ? true : null));
  const second = begun(ask(question));
  await untilRunning(2);
  leader.abort();
  await expect(first).rejects.toThrow();
  await eventually(async () => (go.length === 2 ? true : null));
  go[1]?.();
  expect((await second).headers.get('x-sluice-cache')).toBe('miss');
  expect(await (await second).text()).toContain('answer');
});

test('equal requests are not affected by one that leaves', async () => {
  await startHeld();
  const first = begun(ask(question));
  await eventually(async () => (upstream.seen.length === 1 ? true : null));
  const follower = new AbortController();
  const second = begun(leave(follower.signal));
  await untilRunning(2);
  follower.abort();
  await expect(second).rejects.toThrow();
  await untilRunning(1);
  go[0]?.();
  expect((await first).status).toBe(200);
  await (await first).text();
  const { requests } = await sluice.gateway.query({ type: 'requests', filter: { outcome: 'client-gone' } });
  expect(requests).toHaveLength(1);
  expect(upstream.seen).toHaveLength(1);
});

function leave(signal: AbortSignal): Promise<Response> {
  const init = { method: 'POST', body: JSON.stringify(question), signal };
  return sluice.fetch('/chat/completions', { ...init, headers: { 'content-type': 'application/json' } });
}
