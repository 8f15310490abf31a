/**
 * A transcription is paid by the length of its recording, which the header tells, whatever the answer says of it: in every
 * format of answers and of recordings, with and without a budget, held in memory or on disk; never as tokens.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

const folder = join(import.meta.dirname, '../../fixtures/recordings');
const names = readdirSync(folder);
const recording = (name: string) => readFileSync(join(folder, name));

let upstream: ScriptedUpstream;
let gateways: Record<'without a budget' | 'with a budget', TestGateway>;

/** A cent a second. */
const price = { second: 0.01 };
/** One that is billed by tokens, or by its length where nobody counts them. */
const both = { input: 6, output: 10, audioInput: 6, second: 0.01 };

async function start(amount: number | null): Promise<TestGateway> {
  const limits = amount !== null && { limits: { budgets: [{ unit: 'usd' as const, amount, per: 'day' as const }] } };
  const config: Partial<ConfigInput> = {
    providers: [mainProvider(upstream.baseUrl)],
    groups: [{ id: 'default' }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey), ...limits }],
    settings: { prices: { whisper: price, listener: both } },
  };
  return startGateway({ config });
}

beforeAll(async () => {
  upstream = await startUpstream();
  gateways = { 'without a budget': await start(null), 'with a budget': await start(1_000_000) };
});
afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  await upstream.stop();
});

interface Asked {
  model?: string;
  format?: string;
  stream?: boolean;
  path?: 'transcriptions' | 'translations';
}

function send(gateway: TestGateway, bytes: Buffer, { model = 'whisper', format, stream, path }: Asked = {}) {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), 'speech.bin');
  form.set('model', model);
  if (format) form.set('response_format', format);
  if (stream) form.set('stream', 'true');
  return gateway.fetch(`/audio/${path ?? 'transcriptions'}`, { method: 'POST', body: form });
}

async function recordOf(gateway: TestGateway, bytes: Buffer, asked?: Asked) {
  const reply = await send(gateway, bytes, asked);
  await reply.arrayBuffer();
  expect(reply.status).toBe(200);
  return gateway.record(reply.headers.get('x-request-id') ?? '');
}

function answerText(): void {
  upstream.answer(({ body }, response) => {
    const isJson = !/name="response_format"\r\n\r\n(?:text|srt|vtt)/.test(body.toString('latin1'));
    if (isJson) json(response, { text: 'Hello.' });
    else response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('Hello.\n');
  });
}

/** A WAV of 40 seconds, which is longer than what is kept in memory. */
function longWav(): Buffer {
  const header = Buffer.from(recording('speech.wav').subarray(0, recording('speech.wav').indexOf('data') + 8));
  header.writeUInt32LE(640_000, header.length - 4);
  return Buffer.concat([header, Buffer.alloc(640_000)]);
}

describe.each(['without a budget', 'with a budget'] as const)('%s', (which) => {
  test.each(['json', 'text', 'srt', 'vtt', 'verbose_json', undefined])('an answer as %s', async (format) => {
    answerText();
    for (const path of ['transcriptions', 'translations'] as const) {
      const asked = { path, ...(format && { format }) };
      const { usage, usageCertainty, costUsd } = await recordOf(gateways[which], longWav(), asked);
      expect(usage).toEqual({ seconds: 40 });
      expect(usageCertainty).toBe('estimated');
      expect(costUsd).toBeCloseTo(0.4, 9);
    }
  });

  test.each(names)('%s', async (name) => {
    answerText();
    const seconds = name === 'speech.wav' ? 4 : 6.5;
    const { usage, costUsd } = await recordOf(gateways[which], recording(name), { format: 'text' });
    expect(Object.keys(usage ?? {})).toEqual(['seconds']);
    expect(costUsd).toBeCloseTo(seconds / 100, 2);
  });

  test('a stream without usage', async () => {
    upstream.answer((_request, response) => {
      eventStream(response);
      response.end('data: {"type":"transcript.text.done","text":"Hello."}\n\n');
    });
    expect(await recordOf(gateways[which], longWav(), { stream: true })).toMatchObject({ usage: { seconds: 40 } });
  });

  test('a model that is billed by tokens, where the answer counts none', async () => {
    answerText();
    const { usage, costUsd } = await recordOf(gateways[which], longWav(), { model: 'listener', format: 'json' });
    expect(usage).toEqual({ seconds: 40 });
    expect(costUsd).toBeCloseTo(0.4, 9);
  });

  test('what the answer reports comes first', async () => {
    upstream.answer((_request, response) => json(response, { text: 'x', usage: { type: 'duration', seconds: 41 } }));
    expect(await recordOf(gateways[which], longWav())).toMatchObject({
      usage: { seconds: 41 },
      usageCertainty: 'reported',
    });
  });
});

test('a file of no known format has no length, and under a budget that of its size, not tokens', async () => {
  answerText();
  const unknown = Buffer.alloc(199_000, 'x');
  expect(await recordOf(gateways['without a budget'], unknown)).toMatchObject({ usage: null, costUsd: null });
  expect(await recordOf(gateways['with a budget'], unknown)).toMatchObject({
    usage: { seconds: 100 },
    usageCertainty: 'reserved',
    costUsd: 1,
  });
});

test('ten minutes at 6 kbit/s, 100 at once, exceed a budget by one at most', async () => {
  const short = recording('speech.opus');
  const lastPage = Buffer.from(short.subarray(short.lastIndexOf('OggS')));
  lastPage.writeBigUInt64LE(600n * 48_000n, 6);
  const bytes = Buffer.concat([short, Buffer.alloc(450_000), lastPage]);
  upstream.answer(async (_request, response) => {
    await delay(100);
    json(response, { text: 'Hello.' });
  });
  const gateway = await start(24);
  const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await send(gateway, bytes)).status));
  await gateway.stop();
  const answered = statuses.filter((status) => status === 200).length;
  expect(answered).toBeGreaterThan(0);
  expect(answered * 6).toBeLessThanOrEqual(30);
});
