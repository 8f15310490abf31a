/**
 * Answers and events of an upstream whose values would fill the heap if they were translated: their clients get an error in
 * their API's form, and the process and all neighbours go on.
 *
 * @suite long
 */
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { megabyte } from '../../../server/contract/units.ts';
import { hashOf } from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { eventStream, json, startUpstream } from '../../support/upstream.ts';
import { endProgramsAfterEach, serve, temporaryFolder } from '../cli/run-cli.ts';

endProgramsAfterEach();
const stopLater = stopAfterEach();
const key = 'sk-of-a-client-with-large-answers';
const neighbourKey = 'sk-of-a-neighbour';

/** How each API's answer with a list of small calls begins and ends, whole and as one event of a stream that has begun. */
const upstreams = {
  chat: {
    call: '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}',
    whole: [
      '{"id":"c1","choices":[{"index":0,"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[',
      ']}}]}',
    ],
    begun: 'data: {"choices":[{"index":0,"delta":{"content":"So far"}}]}\n\n',
    event: ['data: {"choices":[{"index":0,"delta":{"tool_calls":[', ']}}]}\n\n'],
  },
  anthropic: {
    call: '{"type":"tool_use","id":"c","name":"f","input":{}}',
    whole: ['{"id":"m1","type":"message","role":"assistant","stop_reason":"tool_use","content":[', ']}'],
    begun: [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[]}}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"So far"}}\n\n',
    ].join(''),
    event: [
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","more":[',
      ']}}\n\n',
    ],
  },
} as const;
type Upstream = keyof typeof upstreams;

const messages = [{ role: 'user', content: 'Hi' }];
const clients = {
  chat: { path: () => '/v1/chat/completions', body: { messages }, upstream: 'anthropic' },
  responses: { path: () => '/v1/responses', body: { input: 'Hi' }, upstream: 'chat' },
  messages: { path: () => '/v1/messages', body: { messages, max_tokens: 9 }, upstream: 'chat' },
  gemini: {
    path: (model: string, stream: boolean) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    upstream: 'anthropic',
  },
} as const satisfies Record<string, { path(model: string, stream: boolean): string; body: object; upstream: Upstream }>;
type Client = keyof typeof clients;

/** Model names say how many megabytes the answer has: `chat-30`. */
async function answer(response: ServerResponse, name: Upstream, megabytes: number, isStream: boolean): Promise<void> {
  const { call, whole, begun, event } = upstreams[name];
  const [beginning, end] = isStream ? event : whole;
  if (isStream) {
    eventStream(response);
    response.write(begun);
  } else response.writeHead(200, { 'content-type': 'application/json' });
  const piece = `${call},`.repeat(20_000);
  const pieces = Math.ceil((megabytes * megabyte) / piece.length);
  // Sluice may have seen enough before the end.
  await pipeline([beginning, ...Array.from({ length: pieces }, () => piece), call + end], response).catch(() => {});
}

async function start() {
  const upstream = await stopLater(
    startUpstream(({ body }, response) => {
      const { model, stream } = JSON.parse(body.toString());
      const [name = '', megabytes = '0'] = String(model).split('-');
      if (name === 'chat' || name === 'anthropic') return answer(response, name, Number(megabytes), stream === true);
      json(response, { id: 'c1', choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }] });
    }),
  );
  const baseUrl = `${upstream.origin}/v1`;
  const credentials = [{ id: 'c1', secret: 'env:UPSTREAM_KEY' }];
  const named = (name: Upstream) => [30, 60, 80].map((megabytes) => `${name}-${megabytes}`);
  const config = {
    version: 1,
    providers: [
      { id: 'one', baseUrl, models: [...named('chat'), 'small'], serves: ['chat'], credentials },
      { id: 'two', dialect: 'anthropic', baseUrl, models: named('anthropic'), credentials },
    ],
    groups: [{ id: 'default', policy: { retries: 0 } }],
    keys: [key, neighbourKey].map((each, index) => ({ id: `k${index}`, group: 'default', hash: hashOf(each) })),
  };
  const folder = temporaryFolder();
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(config));
  const env = { NODE_OPTIONS: '--max-old-space-size=256', UPSTREAM_KEY: 'x' };
  const { ready, child } = await serve(folder, ['--config', file], { env });
  const post = (path: string, body: object, bearer = key) =>
    fetch(new URL(path, ready.baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });
  const ask = (client: Client, megabytes: number, stream: boolean) => {
    const { path, body, upstream } = clients[client];
    const model = `${upstream}-${megabytes}`;
    return post(path(model, stream), client === 'gemini' ? body : { ...body, model, stream });
  };
  /** Small chats, one after another, until this settles. */
  const besides = async (work: Promise<unknown>) => {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    let answered = 0;
    while (!isOver) {
      const response = await post('/v1/chat/completions', { model: 'small', messages }, neighbourKey);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello')]);
      answered++;
    }
    return answered;
  };
  return { child, ask, besides };
}

const wholeErrors: Record<Client, RegExp> = {
  chat: /^\{"error":\{"message":".*","type":"server_error","param":null,"code":"upstream_malformed"\}\}$/,
  responses: /^\{"error":\{"message":".*","type":"server_error","param":null,"code":"upstream_malformed"\}\}$/,
  messages: /^\{"type":"error","error":\{"type":"api_error","message":".*"\}/,
  gemini: /^\{"error":\{"code":503,"message":".*","status":"UNAVAILABLE"\}\}$/,
};
const streamErrors: Record<Client, RegExp> = {
  chat: /data: \{"error":\{"message":".*"\}\}\n\n$/,
  responses: /event: error\ndata: .*\n\nevent: response\.failed\ndata: .*\n\n$/,
  messages: /event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":".*"\}\}\n\n$/,
  gemini: /data: \{"error":\{"code":503,"message":".*","status":"UNAVAILABLE"\}\}\s+$/,
};

test.each([30, 80])(
  'whole answers of %i MB, one for each API at once, end nothing',
  async (megabytes) => {
    const { child, ask, besides } = await start();
    const asked = Promise.all(
      (Object.keys(clients) as Client[]).map(async (client) => {
        const response = await ask(client, megabytes, false);
        expect(response.status, client).toBe(client === 'gemini' ? 503 : 502);
        const text = await response.text();
        expect(text).toMatch(wholeErrors[client]);
        expect(text).toMatch(megabytes > 32 ? /an answer without end/ : /too large to be translated/);
      }),
    );
    expect(await besides(asked)).toBeGreaterThan(5);
    await asked;
    expect(child.exitCode).toBeNull();
  },
  120_000,
);

test.each([60, 80])(
  'single events of %i MB, one for each API at once, end nothing',
  async (megabytes) => {
    const { child, ask, besides } = await start();
    const asked = Promise.all(
      (Object.keys(clients) as Client[]).map(async (client) => {
        const response = await ask(client, megabytes, true);
        const text = await response.text();
        expect([response.status, text], client).toEqual([200, expect.stringContaining('So far')]);
        expect(text).toMatch(streamErrors[client]);
        expect(text).toMatch(/too large to be translated/);
      }),
    );
    expect(await besides(asked)).toBeGreaterThan(5);
    await asked;
    expect(child.exitCode).toBeNull();
  },
  120_000,
);
