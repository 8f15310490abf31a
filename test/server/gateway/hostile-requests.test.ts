/** Requests whose values no integer, index or JSON of PostgreSQL can hold, beside those of another key. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { startReplica } from '../../support/replica.ts';
import { bodyOf, completion } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const otherKey = 'sk-other';
const price = { input: 1_000, output: 1_000 };

describe.runIf(hasPostgres())('a client with hostile values, over PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  let initial: ConfigInput;
  beforeEach(async () => {
    url = await server.createDatabase();
    upstream = await startUpstream();
    upstream.answer((request, response) => {
      if (request.url.includes('images')) json(response, { created: 1, data: [{ b64_json: 'aGk=' }] });
      else json(response, { ...completion({ content: 'hi' }), model: bodyOf(request).model });
    });
    initial = {
      version: 1,
      providers: [mainProvider(upstream.baseUrl), { ...mainProvider(upstream.baseUrl), id: 'second' }],
      groups: [{ id: 'default' }],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        {
          id: 'k2',
          group: 'default',
          hash: hashOf(otherKey),
          limits: { budgets: [{ unit: 'usd', amount: 1_000_000, per: 'day', hard: false }] },
        },
      ],
      settings: { prices: { 'gpt-x': price } },
    };
    gateway = await startReplica({ url, initial });
  });
  afterEach(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    gateway.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
    });
  const chat = (model: string, headers?: Record<string, string>) =>
    post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, headers);
  const others = (length: number) =>
    Array.from({ length }, () => chat('gpt-x', { authorization: `Bearer ${otherKey}` }));
  const ended = async () => {
    const { requests } = await gateway.gateway.query({ type: 'requests', limit: 200 });
    return requests.filter(({ outcome }) => outcome !== null);
  };
  const budgetOfOther = async () => {
    const keys = await gateway.gateway.query({ type: 'keys' });
    // Sums of dollars depend on the order of addition.
    return keys
      .find(({ id }) => id === 'k2')
      ?.limitUse.find(({ kind }) => kind === 'budget')
      ?.used.toFixed(9);
  };

  test.each([
    ['a retry count of 1.5', () => chat('gpt-x', { 'x-stainless-retry-count': '1.5' })],
    ['a retry count of 1e10', () => chat('gpt-x', { 'x-stainless-retry-count': '1e10' })],
    ['an infinite retry count', () => chat('gpt-x', { 'x-stainless-retry-count': 'Infinity' })],
    ['two and a half images', () => post('/v1/images/generations', { model: 'gpt-x', prompt: 'a cat', n: 2.5 })],
    ['a model name with NUL', () => chat('m\0x')],
    ['a model name with half a surrogate pair', () => chat('m\ud800x')],
  ])('that sends %s has a row, and takes none from another key nor its cost', async (_what, hostile) => {
    const responses = await Promise.all([...others(4), hostile(), ...others(5)]);
    expect(responses.map(({ status }) => status)).toEqual(Array.from(responses, () => 200));
    await eventually(async () => (await ended()).length >= responses.length);
    const rows = await ended();
    const hostileRows = rows.filter(({ keyId }) => keyId === 'k1');
    expect(hostileRows).toHaveLength(1);
    const spent = await budgetOfOther();
    await gateway.stop();
    gateway = await startReplica({ url, initial });
    await eventually(async () => (await budgetOfOther()) === spent);
    expect(Number(spent)).toBeGreaterThan(0);
    expect(await gateway.gateway.query({ type: 'usage', by: 'key' })).toContainEqual(
      expect.objectContaining({ name: 'k1', requests: 1 }),
    );
  });
});
