/** Open realtime sessions are checked at each thing that costs, and whenever a key, group or budget changes. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Command } from '../../../server/contract/commands.ts';
import { type ConfigInput, groupSchema } from '../../../server/contract/config.ts';
import { eventually } from '../../support/eventually.ts';
import { hashOf, mainProvider, type TestGateway, testKey } from '../../support/gateway.ts';
import {
  connectRealtime,
  type RealtimeClient,
  type RealtimeUpstream,
  refusedHandshake,
  type SeenSession,
  startRealtimeUpstream,
} from '../../support/realtime-upstream.ts';
import { startControlGateway } from '../control/control-gateway.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

type KeyInput = NonNullable<ConfigInput['keys']>[number];
type GroupInput = NonNullable<ConfigInput['groups']>[number];

/** One transcript costs $1. */
const prices = {
  'gpt-realtime': { input: 1, output: 1, audioInput: 1, audioOutput: 1, maxOutput: 4096 },
  transcriber: { input: 1_000, output: 1_000 },
};
const used = { type: 'tokens', input_tokens: 900, output_tokens: 100 };

interface Opened {
  gateway: TestGateway;
  upstream: RealtimeUpstream;
  client: RealtimeClient;
  session: SeenSession;
}

async function open(key: Partial<KeyInput> = {}, group: Partial<GroupInput> = {}): Promise<Opened> {
  const upstream = await startRealtimeUpstream();
  const gateway = await startControlGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl), mainProvider(upstream.baseUrl, { id: 'spare' })],
      groups: [{ id: 'default' }, { id: 'team', providers: ['main'], ...group }],
      keys: [{ id: 'k1', name: 'Voice', group: 'team', hash: hashOf(testKey), ...key }],
      settings: { prices },
    },
    secrets: { 'provider/main/c1': 'upstream-secret', 'provider/spare/c1': 'upstream-secret' },
  });
  running.push(upstream, gateway);
  const client = await connectRealtime(gateway, { path: '/v1/realtime?model=gpt-realtime&intent=transcription' });
  const session = await upstream.session();
  const transcription = { model: 'transcriber' };
  session.socket.send(JSON.stringify({ type: 'session.updated', session: { audio: { input: { transcription } } } }));
  await client.event();
  return { gateway, upstream, client, session };
}

const transcribed = (more: object = { usage: used }) =>
  JSON.stringify({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'Good day', ...more });
const hard = (amount: number, unit: 'usd' | 'tokens' = 'usd') => ({
  budgets: [{ unit, amount, per: 'day', hard: true } as const],
});

/** Sends transcripts, one after the other, until the session ends; resolves with what has passed. */
async function transcribe({ client, session }: Opened, most: number): Promise<number> {
  for (let count = 1; count <= most && client.closed === null; count++) {
    const received = client.messages.length;
    session.socket.send(transcribed());
    await eventually(() => client.messages.length > received || client.closed !== null);
  }
  return client.messages.filter(({ bytes }) => bytes.includes('transcription.completed')).length;
}

describe('a session that only transcribes', () => {
  test.each<[string, Partial<KeyInput>, Partial<GroupInput>]>([
    ['in dollars of its key', { limits: hard(5) }, {}],
    ['in dollars of its group', {}, { limits: hard(5) }],
    ['in tokens', { limits: hard(5_000, 'tokens') }, {}],
  ])('ends as soon as its transcripts have spent a hard budget %s', async (_, key, group) => {
    const opened = await open(key, group);
    expect(await transcribe(opened, 100)).toBe(5);
    expect((await opened.client.ended()).code).toBe(1008);
    expect((await eventually(() => opened.session.closed)).code).toBe(1001);
    expect(await opened.client.event(6)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } });
    const { status, body } = await refusedHandshake(opened.gateway);
    expect([status, body.error.code]).toEqual([429, 'insufficient_quota']);
    const [row] = await opened.gateway.gateway.query({ type: 'usage', by: 'key' });
    expect(row?.costUsd).toBeCloseTo(5, 9);
  });

  test('stays open within a hard budget, and whatever a soft one says', async () => {
    const soft = { unit: 'usd', amount: 1, per: 'day', hard: false } as const;
    const opened = await open({ limits: { budgets: [...hard(50).budgets, soft] } });
    expect(await transcribe(opened, 30)).toBe(30);
    expect(opened.client.closed).toBeNull();
  });

  test('is closed by a budget that other requests of its key have spent', async () => {
    const opened = await open({ limits: hard(5) });
    const other = await connectRealtime(opened.gateway);
    const otherSession = await opened.upstream.session(1);
    expect(await transcribe({ ...opened, client: other, session: otherSession }, 3)).toBe(3);
    // The model of its transcripts was never told there.
    expect(other.closed).toBeNull();
    expect(await transcribe(opened, 100)).toBe(5);
    expect((await opened.client.ended()).code).toBe(1008);
  });

  test('has a row of unknown cost for a transcript without usage', async () => {
    const { gateway, session, client } = await open({ limits: hard(5) });
    session.socket.send(transcribed({}));
    await client.event(1);
    const row = await eventually(async () => {
      const { requests } = await gateway.gateway.query({ type: 'requests', limit: 5 });
      return requests.find(({ route, outcome }) => route.endsWith('#transcription') && outcome !== null);
    });
    expect(row).toMatchObject({ usage: null, costUsd: null });
  });
});

describe('an open session in which the provider says nothing ends at once', () => {
  test.each<[string, Command, string]>([
    ['if its key is revoked', { type: 'key.revoke', id: 'k1' }, 'invalid_api_key'],
    ['if its key is disabled', { type: 'key.update', id: 'k1', changes: { enabled: false } }, 'key_disabled'],
    [
      'if its key expires by a change',
      { type: 'key.update', id: 'k1', changes: { expiresAt: '2020-01-01T00:00:00Z' } },
      'key_expired',
    ],
    [
      'if its group may no longer use the provider',
      { type: 'group.put', group: groupSchema.parse({ id: 'team', providers: ['spare'] }) },
      'no_healthy_provider',
    ],
  ])('%s', async (_, command, code) => {
    const { gateway, client, session } = await open();
    client.socket.send('{"type":"input_audio_buffer.append","audio":"AAAA"}');
    await eventually(() => session.messages.length === 1);
    await gateway.gateway.execute(command);
    expect((await client.ended()).code).toBe(1008);
    expect(await client.event(1)).toMatchObject({ type: 'error', error: { code } });
    expect((await eventually(() => session.closed)).code).toBe(1001);
  });

  test('if a hard budget is lowered below what is spent', async () => {
    const opened = await open({ limits: hard(50) });
    expect(await transcribe(opened, 3)).toBe(3);
    const lowered = { limits: { budgets: [{ unit: 'usd', amount: 2, per: 'day', hard: true } as const] } };
    await opened.gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: lowered });
    expect((await opened.client.ended()).code).toBe(1008);
    expect(await opened.client.event(4)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } });
  });

  test('if its key expires by time', async () => {
    const { client, session } = await open({ expiresAt: new Date(Date.now() + 1_500).toISOString() });
    expect(client.closed).toBeNull();
    expect((await client.ended()).code).toBe(1008);
    expect(await client.event(1)).toMatchObject({ type: 'error', error: { code: 'key_expired' } });
    expect((await eventually(() => session.closed)).code).toBe(1001);
  });

  test('if its key was replaced and the grace period is over', async () => {
    const { gateway, client } = await open();
    await gateway.gateway.execute({ type: 'key.rotate', id: 'k1', graceHours: 0 });
    expect((await client.ended()).code).toBe(1008);
  });
});

test('an open session stays if something else is changed', async () => {
  const opened = await open({ limits: hard(50) });
  await opened.gateway.gateway.execute({ type: 'key.update', id: 'k1', changes: { name: 'Another name' } });
  await opened.gateway.gateway.execute({ type: 'key.create', name: 'Other', group: 'default' });
  expect(await transcribe(opened, 2)).toBe(2);
  expect(opened.client.closed).toBeNull();
});
