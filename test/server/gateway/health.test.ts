import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import type { ControlEvent } from '../../../server/contract/events.ts';
import { eventually } from '../../support/eventually.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, startControlGateway } from '../control/control-gateway.ts';

let one: ScriptedUpstream;
let two: ScriptedUpstream;
let sluice: ControlGateway;

const answer = (by: string) => (_: SeenRequest, response: ServerResponse) =>
  json(response, {
    id: by,
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: by }, finish_reason: 'stop' }],
  });
const fail =
  (status: number, error: object = {}, headers = {}) =>
  (_: SeenRequest, response: ServerResponse) =>
    json(response, { error: { message: 'no', type: 'server_error', ...error } }, status, headers);

beforeEach(async () => {
  one = await startUpstream(answer('one'));
  two = await startUpstream(answer('two'));
});
afterEach(async () => {
  await sluice.stop();
  await Promise.all([one.stop(), two.stop()]);
});

type Policy = NonNullable<NonNullable<ConfigInput['groups']>[number]['policy']>;

/** `m` is served by provider `one`, then by `two`. Each has the credentials `c1` and `c2`. */
async function start(policy: Policy = {}, more: Partial<ConfigInput> = {}): Promise<void> {
  const credentials = [{ id: 'c1' }, { id: 'c2' }];
  sluice = await startControlGateway({
    config: {
      providers: [
        { id: 'one', baseUrl: one.baseUrl, models: ['m', 'other'], credentials },
        { id: 'two', baseUrl: two.baseUrl, models: ['m'], credentials },
      ],
      groups: [{ id: 'default', policy: { retries: 0, ...policy } }],
      ...more,
    },
    secrets: Object.fromEntries(['one/c1', 'one/c2', 'two/c1', 'two/c2'].map((id) => [`provider/${id}`, `s-${id}`])),
  });
}

/** Resolves with the upstream that answered. */
async function ask(content = 'hi'): Promise<string> {
  const reply = await sluice.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
  return reply.id;
}

const healthOf = async (id: string) =>
  (await sluice.gateway.query({ type: 'providers' })).find((provider) => provider.id === id)?.health;

const credentialsUsed = ({ seen }: ScriptedUpstream) => seen.map(({ headers }) => headers.authorization);

describe('a primary that is down', () => {
  test('is not used after three failures, and answers again once it has recovered', async () => {
    await start();
    one.answer(fail(500));
    for (let count = 0; count < 10; count++) expect(await ask()).toBe('two');
    expect(one.seen).toHaveLength(3);
    expect(await healthOf('one')).toMatchObject({
      ...{ state: 'cooling', failure: 'transient', failedWith: 500, models: [{ model: 'm' }] },
    });
    one.answer(answer('one'));
    await eventually(async () => (await ask()) === 'one');
    expect(await ask()).toBe('one');
    expect(await healthOf('one')).toMatchObject({ state: 'ok', failure: null, failures: 0, until: null });
    for (let count = 0; count < 3; count++) await ask();
    expect(await healthOf('one')).toMatchObject({ state: 'ok', firstByteMs: expect.any(Number), errorRate: 0 });
  });

  test('is tried by one request of many, and used by all again once a stream of it has begun', async () => {
    await start();
    one.answer(fail(500));
    for (let count = 0; count < 3; count++) await ask();
    const asked = one.seen.length;
    const trial = Promise.withResolvers<ServerResponse>();
    one.answer((_, response) => trial.resolve(response));
    let tried: Promise<unknown> | undefined;
    await eventually(() => {
      tried ??= sluice.client.chat.completions.create({ model: 'm', stream: true, messages: [] });
      if (one.seen.length > asked) return true;
      tried = undefined;
      return null;
    });
    expect(await Promise.all(Array.from({ length: 20 }, () => ask()))).toEqual(Array(20).fill('two'));
    expect(one.seen).toHaveLength(asked + 1);
    const response = await trial.promise;
    one.answer(answer('one'));
    eventStream(response);
    const delta = { index: 0, delta: { content: 'x' }, finish_reason: null };
    response.write(`data: ${JSON.stringify({ id: 'one', choices: [delta] })}\n\n`);
    await tried;
    await eventually(async () => (await ask()) === 'one');
    response.end('data: [DONE]\n\n');
  });

  test('and does not respond costs no client the whole timeout once that is known', async () => {
    const group = (firstByteMs: number) =>
      ({ id: 'default', policy: { retries: 0, timeouts: { firstByteMs } } }) as const;
    await start({ timeouts: { firstByteMs: 1_000 } });
    one.answer(() => {});
    expect([await ask(), await ask()]).toEqual(['two', 'two']);
    await sluice.gateway.execute({ type: 'group.put', group: group(15_000) });
    const asked = one.seen.length;
    // Until one of the requests is the trial.
    const answers = new Set<string>();
    const isTried = async () => {
      answers.add(await ask());
      return one.seen.length > asked;
    };
    await expect.poll(isTried).toBe(true);
    expect([...answers]).toEqual(['two']);
    const { requests } = await sluice.gateway.query({ type: 'requests', limit: 1 });
    expect(requests[0]).toMatchObject({ outcome: 'ok', provider: 'two', attempts: [{}, { cause: 'hedge' }] });
    expect(requests[0]?.totalMs).toBeLessThan(10_000);
    expect(await healthOf('one')).toMatchObject({ state: 'cooling', failure: 'silent' });
    one.answer(answer('one'));
    await expect.poll(() => ask(), { timeout: 15_000 }).toBe('one');
  });

  test('is not called twice in one request while it is in cooldown', async () => {
    await start({ retries: 2 });
    one.answer(fail(500));
    await ask();
    await ask();
    expect(one.seen).toHaveLength(3);
  });

  test('stays in cooldown through unrelated changes of the configuration, and not after a reset', async () => {
    await start();
    one.answer(fail(500));
    for (let count = 0; count < 3; count++) await ask();
    await sluice.gateway.execute({ type: 'provider.update', id: 'two', changes: { name: 'Second' } });
    expect(await healthOf('one')).toMatchObject({ state: 'cooling' });
    const { provider } = await sluice.gateway.execute({ type: 'provider.reset-health', id: 'one' });
    // Nothing has proved it well.
    expect(provider.health).toMatchObject({
      state: 'ok',
      failure: 'transient',
      failures: 3,
      failedAt: expect.any(Number),
    });
    one.answer(answer('one'));
    expect(await ask()).toBe('one');
  });

  test('is reported, and shown if a route is explained', async () => {
    await start();
    const told: ControlEvent[] = [];
    const stop = sluice.gateway.onEvent(({ event }) => told.push(event));
    await eventually(() => told[0] ?? null);
    one.answer(fail(500));
    for (let count = 0; count < 3; count++) await ask();
    const changed = await eventually(
      () =>
        told.find((event) => event.type === 'provider-changed' && event.provider.health.state === 'cooling') ?? null,
    );
    expect(changed).toMatchObject({ provider: { id: 'one', health: { failure: 'transient', failedWith: 500 } } });
    stop();
    const { candidates } = await sluice.gateway.query({ type: 'route', group: 'default', model: 'm' });
    expect(candidates.map(({ provider, health }) => [provider, health?.state])).toEqual([
      ['two', 'ok'],
      ['one', 'cooling'],
    ]);
    expect(candidates[1]?.place).toMatch(/it answers with errors \(500\)$/);
  });
});

test('a primary that nobody runs is told from one that answers with errors', async () => {
  await start();
  await one.stop();
  for (let count = 0; count < 3; count++) expect(await ask()).toBe('two');
  expect(await healthOf('one')).toMatchObject({
    ...{ state: 'cooling', failure: 'transient', failedWith: 'refused' },
    reason: 'it cannot be reached: connection refused',
  });
});

describe('if no target is healthy', () => {
  test('one is called nevertheless, and its answer is the client’s', async () => {
    await start();
    one.answer(fail(500));
    two.answer(fail(503));
    for (let count = 0; count < 5; count++) await expect(ask()).rejects.toMatchObject({ status: /50[03]/ });
    two.answer(answer('two'));
    expect(await ask()).toBe('two');
  });
});

describe('a credential', () => {
  test('that was refused is not used until it is edited', async () => {
    await start({ retries: 1 });
    one.answer((request, response) =>
      request.headers.authorization === 'Bearer s-one/c1'
        ? fail(401, { code: 'invalid_api_key' })(request, response)
        : answer('one')(request, response),
    );
    expect([await ask(), await ask(), await ask()]).toEqual(['one', 'one', 'one']);
    const [c1, c2] = ['Bearer s-one/c1', 'Bearer s-one/c2'];
    expect(credentialsUsed(one)).toEqual([c1, c2, c2, c2]);
    const [provider] = await sluice.gateway.query({ type: 'providers' });
    expect(provider?.credentials.map(({ health }) => health.state)).toEqual(['refused', 'ok']);
    expect(provider?.health).toMatchObject({ state: 'degraded', failure: 'credential' });
    await sluice.gateway.execute({ type: 'credential.set', provider: 'one', id: 'c1', secret: 'better' });
    expect(await ask()).toBe('one');
    expect(credentialsUsed(one).at(-1)).toBe('Bearer better');
  });

  test('that lacks a right for one kind of request is used for the others', async () => {
    await start({ retries: 1 });
    const message = 'You have insufficient permissions for this operation. Missing scopes: api.responses.write.';
    one.answer((request, response) =>
      (request.url.endsWith('/responses') ? fail(401, { message }) : answer('one'))(request, response),
    );
    await sluice.client.responses.create({ model: 'm', input: 'Hi' }).catch(() => null);
    expect(one.seen).toHaveLength(2);
    expect(await ask()).toBe('one');
    expect((await healthOf('one'))?.state).toBe('ok');
  });

  test.each([
    [403, 'No access to model: m'],
    [404, 'The model `m` does not exist or you do not have access to it.'],
  ])('that may not use a model (%i) leaves it to another one, and is used for others', async (status, message) => {
    await start({ retries: 1 });
    one.answer((request, response) =>
      request.headers.authorization === 'Bearer s-one/c1' && request.body.includes('"m"')
        ? fail(status, { code: 'model_not_found', message })(request, response)
        : answer('one')(request, response),
    );
    expect([await ask(), await ask()]).toEqual(['one', 'one']);
    await sluice.client.chat.completions.create({ model: 'other', messages: [] });
    const [c1, c2] = ['Bearer s-one/c1', 'Bearer s-one/c2'];
    expect(credentialsUsed(one)).toEqual([c1, c2, c2, c1]);
  });

  test('given again with the same value is tried again', async () => {
    await start({ retries: 1 });
    one.answer(fail(401));
    await ask();
    expect(await healthOf('one')).toMatchObject({ state: 'refused' });
    expect(await ask()).toBe('two');
    expect(one.seen).toHaveLength(2);
    one.answer(answer('one'));
    await sluice.gateway.execute({ type: 'credential.set', provider: 'one', id: 'c1', secret: 's-one/c1' });
    expect(await ask()).toBe('one');
  });

  test('at its limit is not used for as long as requested, and the other one is used', async () => {
    await start({ retries: 1 });
    one.answer((request, response) =>
      request.headers.authorization === 'Bearer s-one/c1'
        ? fail(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '60' })(request, response)
        : answer('one')(request, response),
    );
    for (let count = 0; count < 4; count++) expect(await ask()).toBe('one');
    expect(credentialsUsed(one).filter((used) => used === 'Bearer s-one/c1')).toHaveLength(1);
    const [provider] = await sluice.gateway.query({ type: 'providers' });
    const health = provider?.credentials[0]?.health;
    expect(health).toMatchObject({ state: 'cooling', failure: 'rate-limit' });
    expect((health?.until ?? 0) - Date.now()).toBeGreaterThan(50_000);
  });
});

describe('the strategy of a group', () => {
  test('round-robin uses the credentials in turn', async () => {
    await start({ strategy: 'round-robin' });
    for (let count = 0; count < 4; count++) await ask();
    expect(credentialsUsed(one)).toEqual(['c1', 'c2', 'c1', 'c2'].map((id) => `Bearer s-one/${id}`));
  });

  test('lowest-price asks the cheapest, by the prices that were set', async () => {
    const settings = { prices: { 'one/m': { input: 5, output: 5 }, 'two/m': { input: 1, output: 1 } } };
    await start({ strategy: 'lowest-price' }, { settings });
    expect(await ask()).toBe('two');
    const dearer = { ...settings.prices, 'two/m': { input: 9, output: 9 } };
    await sluice.gateway.execute({ type: 'settings.update', changes: { prices: dearer } });
    expect(await ask()).toBe('one');
  });

  test('lowest-latency asks the fastest', async () => {
    await start({ strategy: 'lowest-latency' });
    one.answer((request, response) => {
      setTimeout(() => answer('one')(request, response), 400);
    });
    const first = [await ask(), await ask()];
    expect(first.toSorted()).toEqual(['one', 'two']);
    for (let count = 0; count < 5; count++) expect(await ask()).toBe('two');
  });

  test('sticky keeps a conversation at its target with its credential, and spreads conversations', async () => {
    const order = ['one', 'two'].map((provider) => ({ provider, priority: 0 }));
    await start();
    await sluice.gateway.execute({
      type: 'group.put',
      group: { id: 'default', order, policy: { strategy: 'sticky' } },
    });
    const used = () => [...credentialsUsed(one), ...credentialsUsed(two)].length;
    const byTopic = new Map<string, Set<string>>();
    for (let turn = 0; turn < 3; turn++) {
      for (let topic = 0; topic < 16; topic++) {
        const before = used();
        const by = await ask(`topic ${topic}`);
        expect(used()).toBe(before + 1);
        const credential = credentialsUsed(by === 'one' ? one : two).at(-1) ?? '';
        byTopic.set(`${topic}`, (byTopic.get(`${topic}`) ?? new Set()).add(credential));
      }
    }
    expect([...byTopic.values()].every((credentials) => credentials.size === 1)).toBe(true);
    expect(new Set([...byTopic.values()].flatMap((credentials) => [...credentials])).size).toBe(4);
  });
});
