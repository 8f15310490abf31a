/** Equal requests that arrive while the first one is running, in a group that shares its answer among them. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { begun, eventually } from '../../support/eventually.ts';
import { hashOf, type TestGateway } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { eventStream, json, type ScriptedUpstream } from '../../support/upstream.ts';
import { askOf, completion, keyOne, question, startCached, startCompletions } from './two-upstreams.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let sluice: TestGateway;

beforeEach(async () => {
  upstream = await stopLater(startCompletions());
});

const ask = (body: object) => askOf(sluice, body);

/** Callbacks that let the provider answer each request. */
let go: (() => void)[] = [];

async function startHeld(more: Partial<ConfigInput> = {}): Promise<void> {
  go = [];
  upstream.answer((_request, response) => {
    go.push(() => json(response, completion()));
  });
  const keys = [keyOne, { ...keyOne, id: 'k2', hash: hashOf('second') }];
  sluice = await stopLater(startCached(upstream, { coalesce: true }, { keys, ...more }));
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

describe('an equal request for a stream', () => {
  const settings = { keepAliveCommentMs: 20 };
  const streamed = { ...question, stream: true };
  const event = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

  /** Resolves with what the client received up to the first comment, and a function that reads the rest. */
  async function followed(leader: AbortSignal) {
    const first = begun(leave(leader, streamed));
    await eventually(async () => (upstream.seen.length === 1 ? true : null));
    const response = await ask(streamed);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.unreachable();
    const comment = await reader.read();
    expect(comment.value).toMatch(/^:/);
    const rest = async () => {
      let text = '';
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
      return text;
    };
    return { first, rest };
  }

  async function startStreamed(): Promise<void> {
    await startHeld({ settings });
    upstream.answer((_request, response) => {
      go.push(() => {
        eventStream(response);
        response.end(`${event({ content: 'answer' })}${event({}, 'stop')}data: [DONE]\n\n`);
      });
    });
  }

  test('gets comments while it waits, and then the answer of the first', async () => {
    await startStreamed();
    const { first, rest } = await followed(new AbortController().signal);
    go[0]?.();
    expect((await (await first).text()).replaceAll(/^:.*\n\n/gm, '')).toBe((await rest()).replaceAll(/^:.*\n\n/gm, ''));
    expect(upstream.seen).toHaveLength(1);
    const [view] = await sluice.gateway.query({ type: 'caches' });
    expect(view).toMatchObject({ misses: 1, shared: 1 });
  });

  test('is sent to the provider where the first one fails, and its answer is kept', async () => {
    await startStreamed();
    const leader = new AbortController();
    const { first, rest } = await followed(leader.signal);
    leader.abort();
    await first.then((response) => response.text()).catch(() => null);
    await eventually(async () => (go.length === 2 ? true : null));
    go[1]?.();
    expect(await rest()).toContain('answer');
    const third = await ask(streamed);
    expect(third.headers.get('x-sluice-cache')).toBe('hit');
    expect(await third.text()).toMatch(/^data: .*answer.*\[DONE\]\n\n$/s);
  });
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

function leave(signal: AbortSignal, body: object = question): Promise<Response> {
  const init = { method: 'POST', body: JSON.stringify(body), signal };
  return sluice.fetch('/chat/completions', { ...init, headers: { 'content-type': 'application/json' } });
}
