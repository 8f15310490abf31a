import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type NotableEvent, startWebhooks } from '../../../server/observability/webhooks.ts';
import { createTransport } from '../../../server/transport/create-transport.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { eventually } from '../../support/eventually.ts';
import { mainProvider } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { type ControlGateway, gatherEvents, refusalOf, startControlGateway } from '../control/control-gateway.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let received: Received[];
let statuses: number[];
let origin: string;
let stopReceiver: () => Promise<void>;

beforeEach(async () => {
  received = [];
  statuses = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    received.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stopReceiver = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
});
afterEach(() => stopReceiver());

const eventOf = ({ body }: Received): NotableEvent => JSON.parse(body);
const arrived = (count: number) => eventually(async () => (received.length >= count ? received : null));

describe('webhooks of a gateway', () => {
  const stopLater = stopAfterEach();
  let upstream: ScriptedUpstream;
  let sluice: ControlGateway;

  beforeEach(async () => {
    upstream = await stopLater(startUpstream());
  });

  async function start(webhook: object, config: object = {}, env: Record<string, string> = {}): Promise<void> {
    sluice = await stopLater(
      startControlGateway({
        secrets: { 'provider/main/c1': 'upstream-secret' },
        ports: { env },
        config: {
          providers: [mainProvider(upstream.baseUrl, { name: 'Main service' })],
          settings: { webhooks: [{ url: `${origin}/hook?to=me`, ...webhook }] },
          ...config,
        },
      }),
    );
    // Snapshots arrive in the order of subscriptions, so by now the hooks know the states that already hold at the
    // start.
    const told = gatherEvents(sluice.gateway);
    await told.next('snapshot');
    told.stop();
  }

  const ask = (headers: Record<string, string> = {}) =>
    sluice
      .fetch('/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"model":"gpt-x","messages":[{"role":"user","content":"planted question"}]}',
      })
      .then((response) => response.text());

  test('report that a provider is down, and that it is up again, without its messages', async () => {
    await start({});
    upstream.answer((_request, response) =>
      json(response, { error: { message: 'planted reason' } }, 429, { 'retry-after': '60' }),
    );
    await ask();
    const [down] = await arrived(1);
    if (!down) throw new Error('nothing arrived');
    expect(eventOf(down)).toMatchObject({ type: 'provider-down', data: { provider: 'main', reason: 'rate-limit' } });
    expect(eventOf(down).text).toContain('Main service');
    await sluice.gateway.execute({ type: 'provider.reset-health', id: 'main' });
    const [, up] = await arrived(2);
    expect(up && eventOf(up)).toMatchObject({ type: 'provider-up', data: { provider: 'main' } });
    expect(JSON.stringify(received)).not.toMatch(/planted|upstream-secret|sk-test/);
  });

  test('tell only the events that are wanted, at an address that may be a secret', async () => {
    await start({ url: 'env:HOOK_URL', events: ['provider-up'] }, {}, { HOOK_URL: `${origin}/planted-path` });
    upstream.answer((_request, response) => json(response, { error: {} }, 429, { 'retry-after': '60' }));
    await ask();
    const told = gatherEvents(sluice.gateway);
    await told.next('provider-changed', ({ provider }) => provider.health.state === 'cooling');
    told.stop();
    await sluice.gateway.execute({ type: 'provider.reset-health', id: 'main' });
    const [up] = await arrived(1);
    expect(up && eventOf(up).type).toBe('provider-up');
    expect(up?.path).toBe('/planted-path');
  });

  test('have their secrets read again with the configuration', async () => {
    const env = { HOOK_URL: `${origin}/before` };
    await start({ url: 'env:HOOK_URL', events: ['new-version'] }, {}, env);
    sluice.gateway.updateReady('9.9.0');
    expect((await arrived(1))[0]?.path).toBe('/before');
    env.HOOK_URL = `${origin}/after`;
    await sluice.gateway.execute({ type: 'settings.update', changes: { replyHeaders: false } });
    let patch = 1;
    await eventually(async () => {
      sluice.gateway.updateReady(`9.9.${patch++}`);
      return received.some(({ path }) => path === '/after') || null;
    });
  });

  test('tell that a session has used up its budget, and that a new version is ready', async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 };
    upstream.answer((_request, response) =>
      json(response, { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'y' } }], usage }),
    );
    const prices = { 'gpt-x': { input: 2, output: 0 } };
    const webhooks = [{ url: `${origin}/hook`, events: ['session-budget', 'new-version'] }];
    await start({}, { settings: { prices, webhooks, sessionBudget: { notifyAtUsd: 1, stopAtUsd: 2 } } });
    await ask({ 'x-sluice-session': 'planted name' });
    const [first] = await arrived(1);
    if (!first) throw new Error('nothing arrived');
    expect(eventOf(first)).toMatchObject({
      type: 'session-budget',
      text: expect.stringMatching(/^The session ses_[0-9a-f]{16} of node has cost \$2\.00 and was stopped\.$/),
      data: { client: 'node', isStopped: true, amount: 2, used: 2 },
    });
    sluice.gateway.updateReady('9.9.9');
    const [, second] = await arrived(2);
    expect(second && eventOf(second)).toMatchObject({
      type: 'new-version',
      text: 'Sluice 9.9.9 is ready to be installed.',
      data: { version: '9.9.9' },
    });
    expect(JSON.stringify(received)).not.toMatch(/planted|upstream-secret|sk-test/);
  });

  test('tell that a budget is used up, signed', async () => {
    const usage = { prompt_tokens: 900, completion_tokens: 200 };
    upstream.answer((_request, response) =>
      json(response, { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'y' } }], usage }),
    );
    const budgets = [{ unit: 'tokens', per: 'day', amount: 1_000 }];
    const groups = [{ id: 'default', name: 'Everyone', limits: { budgets } }];
    await start({ secret: 'env:HOOK' }, { groups }, { HOOK: 'planted-hook-secret' });
    await ask();
    const [first] = await arrived(1);
    if (!first) throw new Error('nothing arrived');
    const event = eventOf(first);
    expect(event).toMatchObject({
      type: 'budget',
      data: {
        scope: 'group',
        id: 'default',
        name: 'Everyone',
        unit: 'tokens',
        per: 'day',
        amount: 1_000,
        percent: 100,
      },
    });
    expect(event.text).toContain('Everyone');
    expect(first.path).toBe('/hook?to=me');
    expect(first.headers['x-sluice-event']).toBe('budget');
    const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(first.headers['x-sluice-signature'])) ?? [];
    expect(digest).toBe(createHmac('sha256', 'planted-hook-secret').update(`${seconds}.${first.body}`).digest('hex'));
    for (const planted of ['planted', 'upstream-secret', 'sk-test']) {
      expect(JSON.stringify(first)).not.toContain(planted);
    }
  });

  test.each([
    ['https://hooks.chat.example/services/T0000/B0000/aB3dE6gH9jK2mN5pQ8sT1vW4', 'looks like a secret'],
    ['https://me:planted@chat.example/hook', 'use an address'],
    ['chat.example/hook', 'use an address'],
  ])('are refused with the address %s', async (url, reason) => {
    await start({});
    const update = sluice.gateway.execute({ type: 'settings.update', changes: { webhooks: [{ url }] } });
    const refusal = await refusalOf(update);
    expect(refusal.message).toMatch(/^webhooks\.0\.url: /);
    expect(refusal.message).toContain(reason);
    expect(refusal.message).not.toMatch(/planted|aB3d/);
  });

  test('are left out if their secret is missing', async () => {
    await start(
      { secret: 'env:NOT_SET' },
      { groups: [{ id: 'default', limits: { budgets: [{ unit: 'tokens', per: 'day', amount: 1 }] } }] },
    );
    await ask();
    await sluice.stop();
    expect(received).toEqual([]);
  });
});

describe('the delivery of webhooks', () => {
  let transport: Transport;
  let log: string[];

  beforeEach(() => {
    transport = createTransport();
    log = [];
  });
  afterEach(() => transport.close());

  const budget = (name: string) => ({
    type: 'limit-reached' as const,
    notice: {
      scope: 'key' as const,
      id: 'k1',
      name,
      budget: { unit: 'usd' as const, per: 'day' as const, amount: 5, hard: false },
      percent: 80 as const,
      used: 4,
      resetsAt: null,
    },
  });

  function startDelivery(retryDelaysMs: readonly number[] = [0, 0, 0]) {
    const warn = (fields: object) => void log.push(JSON.stringify(fields));
    const webhooks = [{ url: `${origin}/services/planted`, events: ['budget' as const], secret: null }];
    return startWebhooks(webhooks, { transport, version: '1', log: { warn }, retryDelaysMs });
  }

  test('is tried again, with the same id, until it is accepted', async () => {
    statuses = [500, 429, 503];
    startDelivery().onEvent(budget('one'));
    const all = await arrived(4);
    expect(new Set(all.map((each) => eventOf(each).id)).size).toBe(1);
    expect(all[0]?.headers['x-sluice-signature']).toBeUndefined();
    expect(log).toEqual([]);
  });

  test('is given up after the last retry, or at once if it is refused, and the log names no path', async () => {
    statuses = [500, 500, 500, 500, 404];
    const delivery = startDelivery();
    delivery.onEvent(budget('one'));
    delivery.onEvent(budget('two'));
    delivery.onEvent(budget('three'));
    const all = await arrived(6);
    expect(all.map((each) => eventOf(each).text.match(/one|two|three/)?.[0])).toEqual([
      ...['one', 'one', 'one', 'one'],
      'two',
      'three',
    ]);
    expect(log.length).toBe(2);
    expect(log.join()).toContain(origin);
    expect(log.join()).not.toContain('planted');
  });

  test('queues at most a hundred events per address', async () => {
    const delivery = startDelivery();
    for (let number = 0; number < 105; number++) delivery.onEvent(budget(String(number)));
    expect(log.length).toBe(5);
    await arrived(100);
  });

  test('waits for no retry once it is stopped', async () => {
    statuses = [500];
    const delivery = startDelivery([60_000]);
    delivery.onEvent(budget('one'));
    delivery.onEvent(budget('two'));
    await arrived(1);
    delivery.stop();
    expect(received.length).toBe(1);
  });
});
