/** Faults on purpose if no provider is called: replayed recordings and cached answers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OpenCassette } from '../../../server/cassettes/deck.ts';
import type { CassetteMode } from '../../../server/contract/cassette.ts';
import { hashOf, mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { completion, sendStream, streamOf, strictChat } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let folder: string;
let upstream: ScriptedUpstream;
const gateways: TestGateway[] = [];

const words = ['One ', 'two ', 'three ', 'four.'];
const whole = words.join('');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cassette-'));
  upstream = await startUpstream(
    strictChat((body, response) => {
      if (body.stream) sendStream(response, streamOf(words.map((content) => ({ content }))));
      else json(response, completion({ content: whole }));
    }),
  );
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function open(config: object, mode?: CassetteMode) {
  const cassette = mode && (await OpenCassette.open({ folder, mode, pace: 0, problem: () => {} }));
  const gateway = await startGateway({ config, ...(cassette && { ports: { cassette } }) });
  gateways.push(gateway);
  return { gateway, cassette };
}

const start = (gateway: TestGateway, ...rules: string[]) =>
  gateway.gateway.execute({ type: 'faults.start', key: 'k1', rules, seed: 1 });

const question = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Count.' }] };

async function textOf(gateway: TestGateway, maxRetries = 0): Promise<string> {
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: testKey, maxRetries });
  let text = '';
  for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  return text;
}

describe('a cassette', () => {
  async function recorded(...rules: string[]) {
    const { gateway, cassette } = await open({ providers: [mainProvider(upstream.baseUrl)] }, 'record');
    if (rules.length > 0) await start(gateway, ...rules);
    await textOf(gateway).catch(() => {});
    await cassette?.close();
    upstream.answer(() => {
      throw new Error('A provider was asked.');
    });
    return open({ providers: [] }, 'replay');
  }

  test('replays answers with faults, of which no recording is used up by those in place of an answer', async () => {
    const { gateway, cassette } = await recorded();
    await start(gateway, 'rate-limit;retry-after=0;nth=1', 'late-event;ms=1;nth=2', 'cut;after=2;nth=3');
    expect(await textOf(gateway, 1)).toBe(whole);
    await expect(textOf(gateway)).rejects.toThrow();
    expect(await textOf(gateway)).toBe(whole);
    expect(cassette?.summary).toMatchObject({ hits: 3, misses: 0 });
  });

  test('says of each answer that it is replayed, and which fault it has', async () => {
    const key = { id: 'k1', group: 'default', hash: hashOf(testKey), faults: true };
    await recorded();
    const { gateway } = await open({ providers: [], keys: [key] }, 'replay');
    const response = await gateway.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sluice-fault': 'pace;events-per-second=1000, missing-end' },
      body: JSON.stringify({ ...question, stream: true }),
    });
    expect(await response.text()).not.toContain('[DONE]');
    expect(response.headers.get('x-sluice-replay')).toBe('hit');
    expect(response.headers.get('x-sluice-fault')).toBe('pace, missing-end');
    const record = await gateway.record(response.headers.get('x-sluice-request-id') ?? '');
    expect(record).toMatchObject({ fault: 'pace, missing-end', outcome: 'ok' });
  });

  test('keeps the provider’s answer where it records one that meets a fault', async () => {
    const { gateway } = await recorded('pace;events-per-second=500', 'duplicate-events;each=1', 'missing-end');
    expect(await textOf(gateway)).toBe(whole);
  });
});

test('an answer from the response cache meets faults, and is stored without them', async () => {
  const { gateway } = await open({
    providers: [mainProvider(upstream.baseUrl, { askUsage: false })],
    groups: [{ id: 'default', cache: {} }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(testKey) }],
  });
  const ask = async () => {
    const body = JSON.stringify({ ...question, temperature: 0 });
    const response = await gateway.fetch('/chat/completions', { method: 'POST', body });
    const { headers, status } = response;
    return {
      status,
      cache: headers.get('x-sluice-cache'),
      fault: headers.get('x-sluice-fault'),
      text: await response.text(),
    };
  };
  await start(gateway, 'usage;change=omit;nth=1', 'malformed-event;nth=2', 'rate-limit;nth=3');
  expect(await ask()).toMatchObject({ status: 200, cache: 'miss', fault: 'usage' });
  const damaged = await ask();
  expect(damaged).toMatchObject({ status: 200, cache: 'hit', fault: 'malformed-event' });
  expect(() => JSON.parse(damaged.text)).toThrow();
  expect(await ask()).toMatchObject({ status: 429, cache: null, fault: 'rate-limit' });
  const sound = await ask();
  expect(sound).toMatchObject({ status: 200, cache: 'hit', fault: null });
  expect(JSON.parse(sound.text)).toMatchObject({ usage: {}, choices: [{ message: { content: whole } }] });
  expect(upstream.seen).toHaveLength(1);
});
