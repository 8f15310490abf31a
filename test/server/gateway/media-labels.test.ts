/** Images and documents whose label is in capitals, old, missing or wrong, from the clients of every API to every other API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const targets = ['openai', 'anthropic', 'gemini', 'bedrock'] as const;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, { error: { message: 'seen' } }, 400));
  const baseUrls = {
    openai: upstream.baseUrl,
    anthropic: upstream.origin,
    gemini: upstream.origin,
    bedrock: upstream.origin,
  };
  gateway = await startGateway({
    config: {
      providers: targets.map((dialect) =>
        mainProvider(baseUrls[dialect], {
          id: dialect,
          dialect,
          models: ['m'],
          ...(dialect === 'openai' && { serves: ['chat'] }),
          ...(dialect === 'bedrock' && { models: ['amazon.nova-pro-v1:0'] }),
        }),
      ),
    },
    secrets: Object.fromEntries(targets.map((id) => [`provider/${id}/c1`, 'x'])),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const start = {
  'image/png': '89504e470d0a1a0a0000000d49484452',
  'image/jpeg': 'ffd8ffe000104a464946000101000001',
  'image/gif': '47494638396101000100800000000000',
  'image/webp': '524946461a000000574542505650384c',
};
const base64 = (type: keyof typeof start) => Buffer.from(start[type], 'hex').toString('base64');

type Send = (label: string, data: string, target: string) => [path: string, body: object];
const modelAt = (target: string) => `${target}/${target === 'bedrock' ? 'amazon.nova-pro-v1:0' : 'm'}`;

const clients: Record<string, Send> = {
  'a chat client': (label, data, target) => [
    '/v1/chat/completions',
    {
      model: modelAt(target),
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:${label};base64,${data}` } }] },
      ],
    },
  ],
  'a chat client in capitals': (label, data, target) => [
    '/v1/chat/completions',
    {
      model: modelAt(target),
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `DATA:${label};BASE64,${data}` } }] },
      ],
    },
  ],
  'a Responses client': (label, data, target) => [
    '/v1/responses',
    {
      model: modelAt(target),
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:${label};base64,${data}` }] }],
    },
  ],
  'an Anthropic client': (label, data, target) => [
    '/v1/messages',
    {
      model: modelAt(target),
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: label, data } }] }],
    },
  ],
  'a Gemini client': (label, data, target) => [
    `/v1beta/models/${encodeURIComponent(modelAt(target))}:generateContent`,
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: label, data } }] }] },
  ],
};
/** Bytes pass unchanged to a provider of the client's own API. */
const ownApi: Record<string, string> = {
  'a chat client': 'openai',
  'a chat client in capitals': 'openai',
  'an Anthropic client': 'anthropic',
  'a Gemini client': 'gemini',
};
const labels: readonly [label: string, type: keyof typeof start][] = [
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['IMAGE/PNG', 'image/png'],
  ['image/png; name=a.png', 'image/png'],
  ['application/octet-stream', 'image/gif'],
  ['image/png', 'image/webp'],
  ['image/webp', 'image/jpeg'],
];

const pairs = Object.keys(clients).flatMap((client) =>
  targets.filter((target) => ownApi[client] !== target).map((target) => [client, target] as const),
);

async function sentFor(client: string, target: string, label: string, data: string): Promise<string> {
  const [path, body] = clients[client]?.(label, data, target) ?? ['', {}];
  upstream.seen.length = 0;
  const response = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const told = await response.text();
  return upstream.seen[0]?.body.toString() ?? `nothing: ${told}`;
}

test.each(pairs)('%s sends an image of any label to %s as what it is', async (client, target) => {
  for (const [label, type] of labels) {
    const sent = await sentFor(client, target, label, base64(type));
    const format = target === 'bedrock' ? `"format":"${type.slice('image/'.length)}"` : type;
    expect(sent, label).toContain(format);
    expect(sent, label).toContain(base64(type));
    expect(sent.match(/image\/(?!png|jpeg|gif|webp)|IMAGE|DATA:|octet/g), label).toBeNull();
  }
});

test.each(['a chat client', 'a Responses client'])('%s may leave the label out', async (client) => {
  for (const target of ['anthropic', 'gemini']) {
    expect(await sentFor(client, target, '', base64('image/png'))).toContain('"image/png"');
  }
});

test('a picture that is written as text in its URL is read, and refused where its type is not taken', async () => {
  const svg = 'data:image/svg+xml;utf8,<svg xmlns="http://www.w3.org/2000/svg"/>';
  const body = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: svg } }] }] };
  const ask = async (target: string) => {
    upstream.seen.length = 0;
    const init = { method: 'POST', body: JSON.stringify({ ...body, model: modelAt(target) }) };
    return (await gateway.fetch('/chat/completions', init)).text();
  };
  expect(await ask('anthropic')).toContain('does not accept this type of media');
  expect(upstream.seen).toEqual([]);
  await ask('gemini');
  const data = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
  expect(JSON.parse(String(upstream.seen[0]?.body)).contents[0].parts).toEqual([
    { inlineData: { mimeType: 'image/svg+xml', data } },
  ]);
});
