/** Which requests meet faults on purpose, for how long, and how they are requested. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CommandInputMap } from '../../../server/contract/commands.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const openKey = 'sk-open-key-0123456789';
const otherKey = 'sk-other-key-0123456789';

beforeAll(async () => {
  upstream = await startUpstream(strictChat((_, response) => json(response, completion({ content: 'Hello' }))));
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl)],
      groups: [{ id: 'default' }, { id: 'other' }],
      keys: [
        { id: 'k1', group: 'default', hash: hashOf(testKey) },
        { id: 'open', group: 'default', hash: hashOf(openKey), faults: true },
        { id: 'other', group: 'other', hash: hashOf(otherKey) },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
afterEach(() => gateway.gateway.execute({ type: 'faults.stop' }));

function ask(key = testKey, headers: Record<string, string> = {}) {
  const body = '{"model":"gpt-x","messages":[{"role":"user","content":"Hi"}]}';
  return gateway.fetch('/chat/completions', {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
}

const statuses = async (...keys: string[]) => {
  const found: number[] = [];
  for (const key of keys) found.push((await ask(key)).status);
  return found;
};

type Start = Omit<CommandInputMap['faults.start'], 'type'>;
const start = (more: Start) => gateway.gateway.execute({ type: 'faults.start', ...more });

describe('faults that are switched on', () => {
  test('are met by that key alone, or by all keys of that group', async () => {
    await start({ key: 'k1', rules: ['status;code=503'] });
    expect(await statuses(testKey, openKey, otherKey)).toEqual([503, 200, 200]);
    await gateway.gateway.execute({ type: 'faults.stop', key: 'k1' });
    await start({ group: 'default', rules: ['status;code=503'] });
    expect(await statuses(testKey, openKey, otherKey)).toEqual([503, 503, 200]);
  });

  test('are those of the key where the group has some, too', async () => {
    await start({ group: 'default', rules: ['status;code=503'] });
    await start({ key: 'k1', rules: ['status;code=400'] });
    expect(await statuses(testKey, openKey)).toEqual([400, 503]);
  });

  test('stand in the status until they are stopped', async () => {
    await start({ key: 'k1', profile: 'rate-limited', minutes: 5, seed: 7 });
    const { faults } = await gateway.gateway.query({ type: 'status' });
    expect(faults).toMatchObject([{ kind: 'key', id: 'k1', profile: 'rate-limited', seed: 7 }]);
    expect(faults[0]?.untilMs).toBeGreaterThan(Date.now());
    expect(await gateway.gateway.execute({ type: 'faults.stop' })).toEqual({ faults: [] });
    expect(await statuses(testKey, testKey, testKey, testKey, testKey)).toEqual([200, 200, 200, 200, 200]);
  });

  test('make the same choices for the same seed', async () => {
    const run = async (seed: number) => {
      await start({ key: 'k1', rules: ['status;code=503;share=0.5'], seed });
      return statuses(...Array.from({ length: 20 }, () => testKey));
    };
    const first = await run(5);
    expect(await run(5)).toEqual(first);
    expect(await run(6)).not.toEqual(first);
  });

  test('do not affect lists of models and other paths that reach no provider', async () => {
    await start({ key: 'k1', rules: ['status;code=503'] });
    expect((await gateway.fetch('/models')).status).toBe(200);
    expect((await gateway.fetch('/usage')).status).toBe(200);
  });

  test.each<[string, Start, string]>([
    ['an unknown fault', { key: 'k1', rules: ['reset', 'nonsense'] }, 'Rule 2: There is no fault "nonsense"'],
    ['a wrong parameter', { key: 'k1', rules: ['stall;after=x'] }, 'Rule 1: "after" of "stall"'],
    [
      'a rule that is never met',
      { key: 'k1', rules: ['reset', 'stall'] },
      'Rule 2: "stall" is never met, since rule 1 lets every request meet "reset" instead.',
    ],
    ['a key that is not there', { key: 'none', rules: ['reset'] }, 'none'],
    ['neither key nor group', { rules: ['reset'] }, 'name a group or a key'],
    ['both key and group', { key: 'k1', group: 'default', rules: ['reset'] }, 'name a group or a key'],
    ['neither profile nor rules', { key: 'k1' }, 'give a profile or rules'],
  ])('are refused for %s', async (_, command, told) => {
    await expect(start(command)).rejects.toThrow(told);
    expect((await gateway.gateway.query({ type: 'status' })).faults).toEqual([]);
  });
});

describe('a request that asks for a fault', () => {
  const fault = (text: string) => ({ 'x-sluice-fault': text });

  test('gets it where its key allows that', async () => {
    const response = await ask(openKey, fault('rate-limit;retry-after=3'));
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3']);
    expect(await statuses(openKey)).toEqual([200]);
  });

  test('gets several where it lists them', async () => {
    const response = await ask(openKey, fault('late-head;ms=1, usage;change=zero, wrong-type'));
    expect(response.headers.get('x-sluice-fault')).toBe('late-head, usage, wrong-type');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.json()).toMatchObject({ usage: { prompt_tokens: 0 } });
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record.fault).toBe('late-head, usage, wrong-type');
    expect((await ask(openKey, fault('late-head;ms=1, quota'))).headers.get('x-sluice-fault')).toBe('late-head, quota');
  });

  test('gets it in place of what is switched on', async () => {
    await start({ key: 'open', rules: ['status;code=503'] });
    expect((await ask(openKey, fault('quota'))).status).toBe(429);
  });

  test.each([
    [testKey, 'quota', 'Key "k1" does not let requests ask for faults.'],
    [openKey, 'nonsense', 'There is no fault "nonsense".'],
    [openKey, 'stall;after=x', '"after" of "stall"'],
    [openKey, 'quota;every=2', '"every" belongs to rules'],
    [openKey, 'missing-end', 'needs a request for a stream'],
    [openKey, 'usage, missing-end', 'The fault "missing-end" needs a request for a stream'],
    [openKey, 'stall;after=4, cut', '"stall" and "cut" cannot be combined: each ends the answer.'],
  ])('is refused with a clear error otherwise', async (key, text, told) => {
    const asked = upstream.seen.length;
    const response = await ask(key, fault(text));
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string; param: string; code: string } };
    expect(error).toMatchObject({ param: 'x-sluice-fault', code: 'invalid_value' });
    expect(error.message).toContain(told);
    expect(upstream.seen).toHaveLength(asked);
  });

  test('does not pass on the header', async () => {
    upstream.seen.length = 0;
    await ask(openKey, fault('wrong-type'));
    expect(upstream.seen[0]?.headers).not.toHaveProperty('x-sluice-fault');
  });
});
