/** A service that refuses a member which Sluice has added is asked once more without it, and Sluice remembers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LearntRefusals } from '../../../server/providers/chat-flavours.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { bodyOf, completion, sendStream, streamOf } from '../../support/strict-chat.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

/** As services word it: the status and the body. */
const wordings: Record<string, (member: string) => [status: number, body: unknown]> = {
  Azure: (member) => [
    400,
    { error: { message: `Unrecognized request argument supplied: ${member}`, type: 'invalid_request_error' } },
  ],
  OpenAI: (member) => [
    400,
    {
      error: {
        message: `Unknown parameter: '${member}'.`,
        type: 'invalid_request_error',
        param: member,
        code: 'unknown_parameter',
      },
    },
  ],
  FastAPI: (member) => [
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', member], msg: 'Extra inputs are not permitted', input: {} }] },
  ],
  Mistral: (member) => [
    422,
    {
      object: 'error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', member, 'x'], msg: 'Extra inputs are not permitted' }],
      },
      type: 'invalid_request_error',
    },
  ],
  Groq: (member) => [400, { error: { message: `property '${member}' is unsupported`, type: 'invalid_request_error' } }],
  xAI: (member) => [
    400,
    { code: 'Client specified an invalid argument', error: `Argument not supported on this model: ${member}` },
  ],
  'a sentence': (member) => [400, `unexpected field ${member}`],
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;
/** What the service refuses now, and how it says so. */
let refused: readonly string[] = [];
let wording = 'OpenAI';

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const body = bodyOf(request);
    const text = JSON.stringify(body);
    const found = refused.find((member) => text.includes(`"${member}":`));
    const [status, error] = wordings[wording]?.(found ?? '') ?? [400, null];
    if (found !== undefined) {
      if (typeof error === 'string') response.writeHead(status, { 'content-type': 'text/plain' }).end(error);
      else json(response, error, status);
    } else if (body.stream === true) sendStream(response, streamOf([{ content: 'Hello' }]));
    else json(response, completion({ content: 'Hello' }));
  });
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  gateway = await startGateway({
    folder,
    config: { providers: [mainProvider(upstream.baseUrl, { serves: ['chat'] })] },
  });
});
beforeEach(async () => {
  refused = [];
  await edited();
  upstream.seen.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

let edits = 0;
const edited = () =>
  gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { name: `main ${edits++}` } });
const sent = () => upstream.seen.map((request: SeenRequest) => bodyOf(request));

async function stream(model = 'm', more: object = {}) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }], ...more });
  const response = await gateway.fetch('/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return { response, text: await response.text() };
}

test.each(Object.keys(wordings))(
  'a chat client’s stream does not fail by what Sluice adds to it, refused in the words of %s',
  async (words) => {
    wording = words;
    refused = ['stream_options'];
    const { response, text } = await stream();
    expect(response.status, text).toBe(200);
    expect(text).toContain('Hello');
    expect(sent().map((body) => 'stream_options' in body)).toEqual([true, false]);
    await stream();
    expect(sent().map((body) => 'stream_options' in body)).toEqual([true, false, false]);
  },
);

describe('what has been learnt', () => {
  beforeEach(async () => {
    wording = 'OpenAI';
    refused = ['stream_options'];
    await stream();
    upstream.seen.length = 0;
  });

  test('is of one model', async () => {
    await stream('another');
    expect(sent().map((body) => 'stream_options' in body)).toEqual([true, false]);
  });

  test('is forgotten when the provider is edited', async () => {
    await edited();
    await stream();
    expect(sent().map((body) => 'stream_options' in body)).toEqual([true, false]);
  });

  test('stays when something else is edited', async () => {
    await gateway.gateway.execute({ type: 'group.put', group: { id: 'other' } });
    await stream();
    expect(sent().map((body) => 'stream_options' in body)).toEqual([false]);
  });

  test('does not concern what a client asks for itself', async () => {
    const { response } = await stream('m', { stream_options: { include_usage: true } });
    expect(response.status).toBe(400);
    expect(sent()).toMatchObject([{ stream_options: { include_usage: true } }]);
  });
});

test('is forgotten after a day', () => {
  let now = 0;
  const learnt = new LearntRefusals(() => now);
  const provider = { id: 'p', configuredAs: 'a' };
  learnt.learn(provider, 'm', 'strict');
  now += 24 * 3_600_000 - 1;
  expect(learnt.of(provider, 'm')).toEqual(['strict']);
  now += 1;
  expect(learnt.of(provider, 'm')).toBeNull();
});

test.each([
  ['stream_options', false],
  ['max_tokens', true],
  ['strict', false],
  ['parallel_tool_calls', false],
])('a client of Anthropic’s API is answered although the service refuses %s', async (member, isRenamed) => {
  wording = 'OpenAI';
  refused = [member];
  const ask = () =>
    claudeAt(gateway)
      .messages.stream({
        model: 'm',
        max_tokens: 50,
        tools: [
          { name: 'f', strict: true, input_schema: { type: 'object', properties: {}, additionalProperties: false } },
        ],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        messages: [{ role: 'user', content: 'Hi' }],
      })
      .finalMessage();
  for (let round = 0; round < 2; round++) expect((await ask()).content).toMatchObject([{ text: 'Hello' }]);
  expect(sent().map((body) => JSON.stringify(body).includes(`"${member}":`))).toEqual([true, false, false]);
  expect(sent().map((body) => body.max_completion_tokens)).toEqual(
    isRenamed ? [undefined, 50, 50] : [undefined, undefined, undefined],
  );
});

test('a service that refuses two members is asked without each, one after the other', async () => {
  wording = 'Groq';
  refused = ['stream_options', 'max_tokens'];
  const request = { model: 'm', max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const answer = await claudeAt(gateway).messages.stream(request).finalMessage();
  expect(answer.content).toMatchObject([{ text: 'Hello' }]);
  expect(upstream.seen.length).toBe(3);
});

describe('an error that is not about such a member', () => {
  const own = (body: unknown, status = 400) =>
    upstream.answer((request, response) =>
      'stream_options' in bodyOf(request) || status !== 400
        ? json(response, body, status)
        : sendStream(response, streamOf([{ content: 'Hello' }])),
    );

  test.each<[string, unknown, number]>([
    ['names its value', { error: { message: "Invalid value for 'stream_options': expected an object" } }, 400],
    ['is one of the server', { error: { message: 'unsupported: stream_options' } }, 500],
    [
      'names nothing that Sluice added',
      { error: { message: "Unknown parameter: 'temperatur'", param: 'temperatur' } },
      400,
    ],
  ])('is told if it %s, and teaches nothing', async (_what, body, status) => {
    own(body, status);
    const { response } = await stream();
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(sent().every((each) => 'stream_options' in each)).toBe(true);
  });

  test('and stays an error without the member teaches nothing', async () => {
    upstream.answer((_request, response) =>
      json(response, { error: { message: "Unknown parameter: 'stream_options'" } }, 400),
    );
    expect((await stream()).response.status).toBe(400);
    expect((await stream()).response.status).toBe(400);
    expect(sent().map((body) => 'stream_options' in body)).toEqual([true, false, true, false]);
  });

  test.each(['strict', 'verbosity', 'reasoning_content'])(
    'but about a tool’s parameter %s is told at once, and teaches nothing',
    async (name) => {
      const message = `Unknown parameter: 'tools[0].function.parameters.properties.${name}'.`;
      upstream.answer((_request, response) =>
        upstream.seen.length === 1
          ? json(response, { error: { message, code: 'unknown_parameter' } }, 400)
          : json(response, completion({ content: 'Hello' })),
      );
      const asked = claudeAt(gateway).messages.create({
        model: 'm',
        max_tokens: 50,
        tools: [{ name: 'f', input_schema: { type: 'object', properties: { [name]: { type: 'string' } } } }],
        messages: [{ role: 'user', content: 'Hi' }],
      });
      await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining(name) });
      expect(upstream.seen.length).toBe(1);
    },
  );
});
