/**
 * Calls that take as long as those of real models, so that they end in a later batch of the ledger than they begin. On each store:
 * whatever is derived from a request must lead back to it.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { RequestFilterInput } from '../../../server/contract/queries.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const answerMs = 2_000;

interface Call {
  id: string;
  number: number;
}

export function describeSlowCalls(start: (config: Partial<ConfigInput>) => Promise<TestGateway>): void {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream(async ({ body }, response) => {
      const number = Number(JSON.parse(body.toString()).model.replace('model-', ''));
      await setTimeout(answerMs);
      if (fails(number)) return json(response, { error: { message: `An ember${number}x fell` } }, 400);
      json(response, completion({ content: 'It lives in the woods.' }));
    });
    gateway = await start({
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default', capture: true }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  async function call(number: number): Promise<Call> {
    const response = await gateway.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sluice-session': `session-${number % 4}` },
      body: JSON.stringify({ model: `model-${number}`, messages: [{ role: 'user', content: `animal${number}x` }] }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(fails(number) ? 400 : 200);
    return { id: response.headers.get('x-sluice-request-id') ?? '', number };
  }

  async function found(filter: RequestFilterInput): Promise<string[]> {
    const { requests } = await gateway.gateway.query({ type: 'requests', filter });
    return requests.map(({ id }) => id);
  }

  async function expectToBeFound({ id, number }: Call): Promise<void> {
    expect(await found({ search: `animal${number}x` }), `text of ${number}`).toEqual([id]);
    expect(await found({ model: `model-${number}` }), `model of ${number}`).toEqual([id]);
    expect(await found({ search: `ember${number}x` }), `error of ${number}`).toEqual(fails(number) ? [id] : []);
    const { request, capture } = await gateway.gateway.query({ type: 'request', id });
    expect(request.id).toBe(id);
    expect(JSON.stringify(capture?.request.body), `capture of ${number}`).toContain(`animal${number}x`);
  }

  /** The sessions, latest first, by their names. */
  async function sessionNames(): Promise<(string | null)[]> {
    const { sessions } = await gateway.gateway.query({ type: 'sessions' });
    return sessions.map(({ name }) => name);
  }

  test('one after another are each found by their own words, model and error', async () => {
    const calls: Call[] = [];
    for (let number = 0; number < 4; number++) calls.push(await call(number));
    for (const each of calls) await expectToBeFound(each);
    expect(await sessionNames()).toEqual(['session-3', 'session-2', 'session-1', 'session-0']);
  });

  test('fifty at once are each found by their own words, model and error', async () => {
    const calls = await Promise.all(Array.from({ length: 50 }, (_, index) => call(100 + index)));
    for (const each of calls) await expectToBeFound(each);
    const ids = new Set(calls.map(({ id }) => id));
    for (const filter of [{ sinceMs: 0 }, { keyId: 'k1' }, { provider: 'main' }]) {
      const all = await found(filter);
      expect(all.filter((id) => ids.has(id))).toHaveLength(50);
    }
    expect(await found({ status: '4xx' })).toHaveLength(calls.filter(({ number }) => fails(number)).length + 1);
    const { requests } = await gateway.gateway.query({ type: 'requests', filter: {} });
    const newest = [...new Set(requests.map(({ session }) => session?.id))];
    const { sessions } = await gateway.gateway.query({ type: 'sessions' });
    expect(sessions.map(({ id }) => id)).toEqual(newest);
  });
}

const fails = (number: number) => number % 7 === 3;
