/** Two gateways with one PostgreSQL: what is created at one exists at the other at once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { refusalsListedPerMinute } from '../../../server/contract/request-views.ts';
import { stretched } from '../../support/cpu-work.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { connectRealtime, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startReplica } from '../../support/replica.ts';
import { bodyOf, completion, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

describe.runIf(hasPostgres())('two replicas', () => {
  const server = startPostgresInSuite();
  let url: string;
  let upstream: ScriptedUpstream;
  let replicas: TestGateway[];
  let one: TestGateway;
  let other: TestGateway;
  beforeEach(async () => {
    replicas = [];
    url = await server.createDatabase();
    upstream = await startUpstream();
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.stop();
    await upstream.stop();
  });

  async function another(): Promise<TestGateway> {
    const replica = await startReplica({ url, initial });
    replicas.push(replica);
    return replica;
  }

  let initial: ConfigInput;
  async function start(more: Partial<ConfigInput> = {}, provider: Record<string, unknown> = {}): Promise<void> {
    initial = {
      version: 1,
      providers: [mainProvider(upstream.baseUrl, provider)],
      groups: [{ id: 'default', passthrough: 'main' }],
      keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
      ...more,
    };
    one = await another();
    other = await another();
  }

  test('store the first refusals of a key over its limit in a minute, and count the others exactly', async () => {
    upstream.answer((_request, response) => json(response, completion({ content: 'Hi' })));
    const limits = { requestsPerMinute: 1 };
    await start({ keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }] });
    const begunAt = Date.now();
    const statuses: number[] = [];
    const loop = async ({ baseUrl }: TestGateway) => {
      for (let index = 0; index < 100; index++) {
        const response = await fetch(`${baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'hello' }] }),
        });
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    };
    await Promise.all([loop(one), loop(other)]);
    const refused = statuses.filter((status) => status === 429).length;
    const { gateway } = one;
    await eventually(async () => (await gateway.query({ type: 'usage', by: 'key' }))[0]?.requests === 200);
    expect(await gateway.query({ type: 'usage', by: 'key' })).toMatchObject([{ name: 'k1', refused }]);
    const { requests } = await gateway.query({ type: 'requests', limit: 1_000 });
    const rows = requests.filter(({ status }) => status === 429).length;
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(begunAt / 60_000) + 1;
    expect(rows).toBeGreaterThanOrEqual(2 * refusalsListedPerMinute);
    expect(rows).toBeLessThanOrEqual(2 * minutes * refusalsListedPerMinute);
    const sinceMs = begunAt - 60_000;
    const counted = async () => (await gateway.query({ type: 'refusals', sinceMs }))[0];
    await eventually(async () => (await counted())?.requests === refused - rows);
    expect(await counted()).toMatchObject({ keyId: 'k1', reason: 'rate_limit_exceeded' });
  });

  test('tell their windows of requests that are pinned, noted and unpinned at the other', async () => {
    upstream.answer((_request, response) => json(response, completion({ content: 'Hi' })));
    await start();
    const { request_id: id = '' } = await one.client.chat.completions
      .create({ model: 'gpt-x', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    const hasEnded = async () =>
      (await one.gateway.query({ type: 'requests' })).requests.some(({ outcome }) => outcome === 'ok');
    await eventually(hasEnded);
    const told: unknown[] = [];
    const stopListening = other.gateway.onEvent(({ event }) => {
      if (event.type === 'pin-changed') told.push(event.pin);
    });
    const { execute } = one.gateway;
    const changes = [
      { type: 'request.pin', note: 'slow' },
      { type: 'request.pin', note: 'slower' },
      { type: 'request.unpin' },
    ] as const;
    for (const [index, change] of changes.entries()) {
      await execute({ ...change, id: id ?? '' });
      await eventually(() => told.length > index);
    }
    expect(told).toMatchObject([{ note: 'slow' }, { note: 'slower' }, null]);
    stopListening();
  });

  test('lead to a job that either has made, as soon as the client knows it', async () => {
    let made = 0;
    upstream.answer(({ method, url: path }, response) => {
      const object = path.startsWith('/v1/videos') ? 'video' : 'file';
      const id = method === 'POST' ? `${object}_${++made}` : path.split('/').at(-1);
      json(response, { object, id, status: 'queued' });
    });
    await start();
    for (let round = 0; round < 5; round++) {
      const { id } = await one.client.videos.create({ model: 'sora-2', prompt: 'A film' });
      expect(await other.client.videos.retrieve(id)).toMatchObject({ id });
      const file = await other.client.files.create({ file: new File(['text'], 'a.txt'), purpose: 'user_data' });
      expect(await one.client.files.retrieve(file.id)).toMatchObject({ id: file.id });
    }
  });

  test('go on from a translated response that the other has kept', async () => {
    upstream.answer(
      strictChat((body, response) => json(response, completion({ content: `Answer to ${bodyLength(body)}` }))),
    );
    await start({}, { serves: ['chat'] });
    let previous: string | undefined;
    for (const replica of [one, other, one, other]) {
      const { id } = await replica.client.responses.create({
        model: 'gpt-x',
        input: 'and then?',
        ...(previous && { previous_response_id: previous }),
      });
      previous = id;
    }
    const seen = upstream.seen.map((request) => bodyLength(bodyOf(request)));
    expect(seen).toEqual([1, 3, 5, 7]);
    const streamed = await one.client.responses.create({ model: 'gpt-x', input: 'hi', store: true });
    expect((await other.client.responses.retrieve(streamed.id)).id).toBe(streamed.id);
    await other.client.responses.delete(streamed.id);
    await expect(one.client.responses.retrieve(streamed.id)).rejects.toMatchObject({ status: 404 });
  });

  const chat = (replica: TestGateway, headers: Record<string, string> = {}) =>
    replica.client.chat.completions.create(
      { model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] },
      { headers },
    );
  const answering = strictChat((_body, response) => json(response, completion({ content: 'hi' })));

  test('refuse a session within a second after it was stopped at the other', async () => {
    upstream.answer(answering);
    await start();
    const named = { 'x-sluice-session': 'my run' };
    await chat(one, named);
    await chat(other, named);
    const [session] = (await one.gateway.query({ type: 'sessions' })).sessions;
    await one.gateway.execute({ type: 'session.stop', id: session?.id ?? '' });
    const stoppedMs = performance.now();
    await expect(chat(one, named)).rejects.toMatchObject({ code: 'session_stopped' });
    await eventually(async () => (await chat(other, named).catch(({ code }) => code)) === 'session_stopped');
    expect(performance.now() - stoppedMs).toBeLessThan(stretched(1_000));
  });

  test('end a realtime session that is open at one when its key is disabled at the other', async () => {
    const realtime = await startRealtimeUpstream();
    const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey) }];
    await start({ providers: [mainProvider(realtime.baseUrl)], keys });
    const session = await connectRealtime(one);
    await other.gateway.execute({ type: 'key.update', id: 'k1', changes: { enabled: false } });
    expect((await session.ended()).code).toBe(1008);
    expect(await session.event()).toMatchObject({ type: 'error', error: { code: 'key_disabled' } });
    await realtime.stop();
  });

  test('hold a budget to what both have spent', async () => {
    upstream.answer(answering);
    const limits = { budgets: [{ unit: 'tokens', amount: 50, per: 'day', hard: true }] };
    const keys = [{ id: 'k1', group: 'default', hash: hashOf(testKey), limits }] as ConfigInput['keys'];
    await start({ keys });
    await chat(one);
    await chat(other);
    await Promise.all(replicas.map((replica) => replica.gateway.query({ type: 'requests' })));
    await expect(chat(await another())).rejects.toMatchObject({ code: 'insufficient_quota' });
    // Running replicas notice it within seconds.
    await eventually(async () => (await chat(one).catch(({ code }) => code)) === 'insufficient_quota');
  });

  test('write each request once, also those of the time when the database is away', async () => {
    let served = 0;
    upstream.answer((...call) => {
      served += 1;
      return answering(...call);
    });
    await start();
    for (let index = 0; index < 10; index++) await Promise.all([chat(one), chat(other)]);
    await server.kill();
    for (let index = 0; index < 5; index++) await Promise.all([chat(one), chat(other)]);
    expect((await one.gateway.query({ type: 'status' })).ledger.pending).toBeGreaterThan(0);
    await expect(one.gateway.execute({ type: 'group.put', group: { id: 'late' } })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    await server.start();
    await eventually(async () => {
      const pending = await Promise.all(replicas.map(({ gateway }) => gateway.query({ type: 'status' })));
      return pending.every(({ ledger }) => ledger.ok && ledger.pending === 0);
    });
    for (const { gateway } of replicas) {
      const [usage] = await gateway.query({ type: 'usage', by: 'key' });
      expect(usage).toMatchObject({ requests: served, inputTokens: 21 * served, outputTokens: 9 * served });
    }
    expect(served).toBe(30);
  });
});

const bodyLength = (body: { messages?: unknown }) => (Array.isArray(body.messages) ? body.messages.length : 0);
