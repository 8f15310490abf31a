/**
 * Bodies whose values would fill the heap are refused; the process and all other clients go on.
 *
 * @suite long
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HeapShare } from '../../../server/exchange/request/outgoing-call.ts';
import { hashOf } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { endProgramsAfterEach, serve, temporaryFolder } from '../cli/run-cli.ts';

endProgramsAfterEach();
const stopLater = stopAfterEach();
const key = 'sk-of-a-client-with-large-bodies';
const megabyte = 1024 * 1024;

/** For each API of clients: the path, and the body with such a list of blocks. */
const clients = {
  openai: {
    path: '/v1/chat/completions',
    block: '{"type":"text","text":"x"}',
    image: '{"type":"image_url","image_url":{"url":"data:image/png;base64,DATA"}}',
    body: (blocks: string) => `{"model":"MODEL","messages":[{"role":"user","content":[${blocks}]}]}`,
  },
  responses: {
    path: '/v1/responses',
    block: '{"type":"input_text","text":"x"}',
    image: '{"type":"input_image","image_url":"data:image/png;base64,DATA"}',
    body: (blocks: string) => `{"model":"MODEL","store":false,"input":[{"role":"user","content":[${blocks}]}]}`,
  },
  anthropic: {
    path: '/v1/messages',
    block: '{"type":"text","text":"x"}',
    image: '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DATA"}}',
    body: (blocks: string) => `{"model":"MODEL","max_tokens":9,"messages":[{"role":"user","content":[${blocks}]}]}`,
  },
  gemini: {
    path: '/v1beta/models/MODEL:generateContent',
    block: '{"text":"x"}',
    image: '{"inlineData":{"mimeType":"image/png","data":"DATA"}}',
    body: (blocks: string) => `{"contents":[{"role":"user","parts":[${blocks}]}]}`,
  },
} as const;

const upstreams = { openai: 'at-openai', anthropic: 'at-anthropic', gemini: 'at-gemini' } as const;
type Client = keyof typeof clients;
const pairs = (Object.keys(clients) as Client[]).flatMap((client) =>
  (Object.keys(upstreams) as (keyof typeof upstreams)[])
    // OpenAI's provider serves Responses as they are.
    .filter((upstream) => upstream !== client && !(upstream === 'openai' && client === 'responses'))
    .map((upstream) => [client, upstream] as const),
);

/** `heapMegabytes` as `--max-old-space-size`; its default is half of the machine's memory, at most 4 GB. */
async function start(heapMegabytes: number) {
  const upstream = await stopLater(startUpstream((_request, response) => json(response, { seen: true })));
  const folder = temporaryFolder();
  const config = {
    version: 1,
    providers: [
      { id: 'at-openai', baseUrl: `${upstream.origin}/v1`, models: ['gpt-x'] },
      { id: 'at-anthropic', dialect: 'anthropic', baseUrl: `${upstream.origin}/v1`, models: ['claude-x'] },
      { id: 'at-gemini', dialect: 'gemini', baseUrl: `${upstream.origin}/v1beta`, models: ['gemini-x'] },
    ].map((provider) => ({ ...provider, credentials: [{ id: 'c1', secret: 'env:UPSTREAM_KEY' }] })),
    aliases: Object.values(upstreams).map((name) => ({
      name,
      targets: [
        { provider: name, model: { 'at-openai': 'gpt-x', 'at-anthropic': 'claude-x', 'at-gemini': 'gemini-x' }[name] },
      ],
    })),
    groups: [{ id: 'default', policy: { retries: 0, fallbacks: 0 } }],
    keys: [{ id: 'k1', group: 'default', hash: hashOf(key) }],
  };
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}`, UPSTREAM_KEY: 'x' };
  const { ready, child } = await serve(folder, ['--config', file], { env });
  const origin = new URL(ready.baseUrl).origin;
  const send = async (client: Client, model: string, blocks: string) => {
    const { path, body } = clients[client];
    const response = await fetch(origin + path.replace('MODEL', model), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-goog-api-key': key },
      body: body(blocks).replace('MODEL', model),
    });
    return { status: response.status, text: await response.text() };
  };
  return { upstream, send, child };
}

const blocksOf = (block: string, bytes: number) =>
  `${block},`.repeat(Math.ceil(bytes / (block.length + 1))).slice(0, -1);

describe.each([
  [1024, 25],
  [2048, 60],
])('with a heap of %i MB', (heapMegabytes, bodyMegabytes) => {
  test(`bodies of ${bodyMegabytes} MB of small blocks end nothing, and large texts and images pass`, async () => {
    const { upstream, send, child } = await start(heapMegabytes);
    for (const [client, to] of pairs) {
      const { block, image } = clients[client];
      const large = await send(client, upstreams[to], blocksOf(block, bodyMegabytes * megabyte));
      const why = `${client} to ${to}`;
      expect(large.status, why).toBe(413);
      expect(large.text, why).toMatch(/too large to be translated.*JSON values.*Send fewer or longer blocks/);
      const before = upstream.seen.length;
      await send(client, upstreams[to], image.replace('DATA', 'A'.repeat(20 * megabyte)));
      await send(client, upstreams[to], block.replace('"x"', JSON.stringify('word '.repeat(megabyte))));
      expect(upstream.seen.length - before, why).toBe(2);
    }
    expect(child.exitCode).toBeNull();
  }, 240_000);
});

test('several at once that each would fit end nothing either', async () => {
  const { send, child } = await start(1024);
  const blocks = blocksOf(clients.gemini.block, 4 * megabyte);
  const sent = await Promise.all(Array.from({ length: 12 }, () => send('gemini', upstreams.anthropic, blocks)));
  // Either limit of memory may refuse them: that of bodies or that of the heap.
  for (const { status } of sent) expect([200, 413, 429, 502, 503]).toContain(status);
  expect(child.exitCode).toBeNull();
  expect((await send('openai', upstreams.anthropic, clients.openai.block)).status).not.toBe(429);
}, 120_000);

describe('the share of the heap', () => {
  const size = { bytes: 1_000, values: 1_000 };

  test('is given back, so that the next request fits', () => {
    const heap = new HeapShare(1_000_000);
    const held = heap.hold(size, 0);
    expect(() => heap.hold(size, 0)).toThrow(/as many large requests/);
    expect(heap.hasRoomFor(size)).toBe(false);
    expect(heap.hold(size, held)).toBe(held);
    heap.release(held);
    expect(heap.hasRoomFor(size)).toBe(true);
    heap.hold(size, 0);
  });

  test('is never enough for what exceeds it alone', () => {
    expect(() => new HeapShare(1_000_000).hold({ bytes: 1_000, values: 2_000 }, 0)).toThrow(
      /too large to be translated/,
    );
  });
});
