/** Values of JSON that cannot be converted to text or a number: an object with own `toString`, or very deep lists. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream, writePieces } from '../../support/upstream.ts';

const odd = { toString: 1, valueOf: 1 };
const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
const good = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { content: 'Hi' } }] };

let upstream: ScriptedUpstream;
let gateway: TestGateway;

/** One request at a time, so that a place that is not released refuses the next request. */
async function start(provider: Record<string, unknown> = {}): Promise<void> {
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, provider)],
      groups: [{ id: 'default', policy: { retries: 0 } }],
      settings: { admission: { running: 1, waiting: 1 } },
    },
  });
}
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

function ask(path: string, body: string): Promise<Response> {
  return gateway.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

test.each([
  ['/chat/completions', `{"model":"gpt-x","messages":[],"n":${JSON.stringify(odd)}}`],
  ['/chat/completions', `{"model":"gpt-x","messages":[],"n":${deep}}`],
  ['/completions', `{"model":"gpt-x","prompt":"Hi","best_of":${JSON.stringify(odd)}}`],
  ['/images/generations', `{"model":"gpt-x","prompt":"Hi","n":${JSON.stringify(odd)},"size":${JSON.stringify(odd)}}`],
  ['/videos', `{"model":"gpt-x","prompt":"Hi","seconds":${JSON.stringify(odd)}}`],
])('a request to %s with a count that is none is left to the upstream', async (path, body) => {
  await start();
  upstream.answer((_request, response) => json(response, { error: { message: 'Invalid count.' } }, 400));
  for (let time = 0; time < 3; time++) {
    const response = await ask(path, body);
    expect([response.status, await response.json()]).toEqual([400, { error: { message: 'Invalid count.' } }]);
  }
  expect((await gateway.record()).status).toBe(400);
});

/** Translated streams that stall after an event with odd values: only Sluice ends the request. */
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string }) => `event: ${value.type}\n${event(value)}`;
const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const messages = [
  { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
].map(named);
const gemini = event({ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] });

const streams: [what: string, dialect: string, path: string, beginning: string, odd: string][] = [
  [
    'a kind of block',
    'anthropic',
    '/chat/completions',
    messages.join(''),
    event({ type: 'content_block_start', content_block: { type: odd } }),
  ],
  [
    'an index',
    'anthropic',
    '/chat/completions',
    messages.join(''),
    event({ type: 'content_block_start', index: odd, content_block: { type: 'tool_use' } }),
  ],
  [
    'deep arguments',
    'anthropic',
    '/chat/completions',
    messages.join(''),
    event({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c', name: 'f', input: nested(600) },
    }),
  ],
  [
    'the name of a call',
    'gemini',
    '/chat/completions',
    gemini,
    event({ candidates: [{ content: { parts: [{ functionCall: { name: odd } }] } }] }),
  ],
  [
    'deep arguments',
    'gemini',
    '/responses',
    gemini,
    event({ candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: nested(600) } }] } }] }),
  ],
];

const asked = { model: 'gpt-x', stream: true, messages: [{ role: 'user', content: 'Hi' }], input: 'Hi' };

test.each(streams)(
  'a stream with odd %s of %s ends, and the next request is served: %s',
  async (_what, dialect, path, beginning, last) => {
    await start({ dialect, baseUrl: `${upstream.origin}${dialect === 'gemini' ? '/v1beta' : '/v1'}` });
    for (const events of [[beginning, last], [last]]) {
      upstream.answer(async (_request, response) => {
        eventStream(response);
        await writePieces(response, Buffer.from(events.join('')), []);
      });
      await ask(path, JSON.stringify(asked))
        .then((response) => response.text())
        .catch(() => {});
      expect(await gateway.record()).toMatchObject({ provider: 'main' });
    }
  },
);

test('an event whose type is no text passes', async () => {
  await start();
  const events = named({ type: 'response.output_text.delta' }) + event({ type: odd });
  upstream.answer((_request, response) => {
    eventStream(response);
    response.end(events);
  });
  const response = await ask('/responses', JSON.stringify(asked));
  expect((await response.text()).startsWith(events)).toBe(true);
});

test.each([
  ['anthropic', { type: 'message', content: [{ type: 'tool_use', name: odd, input: nested(600) }] }],
  ['gemini', { candidates: [{ content: { parts: [{ functionCall: { name: odd } }] } }] }],
  ['gemini', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }], usageMetadata: { promptTokenCount: odd } }],
  ['openai', { ...good, usage: { prompt_tokens: odd }, id: odd }],
])('a whole answer of %s with odd values ends, and the next request is served', async (dialect, answer) => {
  await start({ dialect });
  for (let time = 0; time < 3; time++) {
    upstream.answer((_request, response) => json(response, answer));
    const response = await ask('/chat/completions', JSON.stringify({ ...asked, stream: false }));
    expect(response.status).toBeOneOf([200, 502]);
  }
});
