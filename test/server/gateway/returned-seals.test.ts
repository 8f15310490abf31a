/**
 * What Sluice put into a conversation, at a provider that is sent the client's own bytes: for each API, whole and streamed,
 * the target's own seal, a foreign one, a damaged one, and what only looks like one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SealKind } from '../../../server/apis/neutral/conversation.ts';
import { wrapSeal } from '../../../server/apis/neutral/requests/carried-reasoning.ts';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

interface Native {
  model: string;
  dialect: 'openai' | 'anthropic' | 'gemini';
  path(isStreamed: boolean): string;
  kind: SealKind;
  /** Odd spacing, and numbers whose digits have to stay. */
  body(message: string, isStreamed: boolean): string;
  /** The message with a seal, and what is left of it without one. */
  message(seal: string): string;
  reduced: string;
  at: string;
}

const talk = '{"role":"user" , "content":"c2wxA","n":1.0}';
const listed = (model: string, list: string) => (message: string, isStreamed: boolean) =>
  `{"model":"${model}",${isStreamed ? '"stream":true, ' : ''}"n":1.0,"max_tokens":9,"${list}":[${talk},${message}${talk}]}`;
const geminiModel = 'gemini-3-pro';
const called = (seal: string) =>
  `{"parts":[{"functionCall":{"name":"f","args":{"a":"c2wxA"}},"thoughtSignature":"${seal}"}]},`;

const natives: Record<string, Native> = {
  messages: {
    model: 'claude',
    dialect: 'anthropic',
    path: () => '/v1/messages',
    kind: 'signature',
    body: listed('claude', 'messages'),
    message: (seal) => `{"role":"assistant","content":[{"type":"thinking","thinking":"c2wxA","signature":"${seal}"}]},`,
    reduced: '',
    at: 'messages[1].content[0]',
  },
  responses: {
    model: 'gpt',
    dialect: 'openai',
    path: () => '/v1/responses',
    kind: 'encrypted',
    body: listed('gpt', 'input'),
    message: (seal) => `{"type":"reasoning","summary":[],"encrypted_content":"${seal}"},`,
    reduced: '',
    at: 'input[1]',
  },
  chat: {
    model: 'glm',
    dialect: 'openai',
    path: () => '/v1/chat/completions',
    kind: 'signature',
    body: listed('glm', 'messages'),
    message: (seal) => `{"role":"assistant","reasoning_details":[{"signature":"${seal}"}],"content":"c2wxA"},`,
    reduced: '{"role":"assistant","content":"c2wxA"},',
    at: 'messages[1].reasoning_details[0]',
  },
  gemini: {
    model: geminiModel,
    dialect: 'gemini',
    path: (isStreamed) =>
      `/v1beta/models/${geminiModel}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    kind: 'thought-signature',
    body: (message) => `{"n":1.0,"contents":[${talk},${message}${talk}]}`,
    message: called,
    reduced: called('skip_thought_signature_validator'),
    at: 'contents[1].parts[0].thoughtSignature',
  },
};

const answer: Script = ({ url, body }, response) => {
  const isStreamed = url.includes(':stream') || body.includes('"stream":true');
  const said = responses.responseWith([responses.messageWith('Hi')]);
  if (url.includes('/messages')) anthropic.send(response, { stream: isStreamed }, [anthropic.text('Hi')]);
  else if (url.includes(':stream')) gemini.sendEvents(response, [gemini.answered([{ text: 'Hi' }])]);
  else if (url.includes(geminiModel)) json(response, gemini.answered([{ text: 'Hi' }]));
  else if (url.includes('/responses') && !isStreamed) json(response, said);
  else if (url.includes('/responses')) chat.sendStream(response, responses.streamOfResponse(said));
  else if (isStreamed) chat.sendStream(response, chat.streamOf([{ content: 'Hi' }]));
  else json(response, chat.completion({ content: 'Hi' }));
};

let folder: string;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let lastRequestId = '';

async function open(more: Partial<ConfigInput> = {}): Promise<void> {
  const providers = Object.entries(natives).map(([id, { dialect, model }]) => {
    const bases = { gemini: `${upstream.origin}/v1beta`, anthropic: upstream.origin, openai: upstream.baseUrl };
    return mainProvider(bases[dialect], { id, dialect, askUsage: false, models: [model] });
  });
  const secrets = Object.fromEntries(Object.keys(natives).map((id) => [`provider/${id}/c1`, 'k']));
  gateway = await startGateway({ folder, config: { providers, ...more }, secrets });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  upstream = await startUpstream(answer);
  await open();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  upstream.seen.length = 0;
});

async function ask(path: string, body: string, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...more };
  const response = await fetch(gateway.origin + path, { method: 'POST', headers, body });
  await response.arrayBuffer();
  lastRequestId = response.headers.get('x-sluice-request-id') ?? '';
  return {
    status: response.status,
    dropped: response.headers.get('x-sluice-dropped'),
    sent: upstream.seen.map((seen) => seen.body.toString()),
  };
}

const ways = [
  ['whole', false],
  ['streamed', true],
] as const;

describe.each(Object.entries(natives))(
  'a body of the API %s',
  (id, { model, path, kind, body, message, reduced, at }) => {
    const origin = { provider: id, model, account: 'c1' };
    const own = wrapSeal({ kind, data: 'own', origin });
    const foreign = wrapSeal({ kind, data: 'foreign', origin: { ...origin, provider: 'other' } });

    describe.each(ways)('%s', (_way, isStreamed) => {
      const askWith = (seal: string, headers?: Record<string, string>) =>
        ask(path(isStreamed), body(message(seal), isStreamed), headers);

      test('brings its own seal back to the provider, and every other byte', async () => {
        const sent = [body(message('own'), isStreamed)];
        expect(await askWith(own)).toEqual({ status: 200, dropped: null, sent });
      });

      test.each([
        ['foreign', foreign],
        ['cut off', own.slice(0, -4)],
        ['changed', `${own.slice(0, 20)}${own[20] === 'A' ? 'B' : 'A'}${own.slice(21)}`],
        ['of nobody', 'c2wxA'],
      ])('does not bring a seal that is %s, which is told', async (_what, seal) => {
        const sent = [body(reduced, isStreamed)];
        expect(await askWith(seal)).toEqual({ status: 200, dropped: `${at};why=foreign-reasoning`, sent });
      });

      test('is sent as it is without one', async () => {
        for (const seal of ['c2lnbmF0dXJl', 'gAAAA']) {
          upstream.seen.length = 0;
          const sent = [body(message(seal), isStreamed)];
          expect(await askWith(seal)).toEqual({ status: 200, dropped: null, sent });
        }
      });

      test('is refused if the client takes no losses', async () => {
        const { status, sent } = await askWith(foreign, { 'x-sluice-lossy': 'refuse' });
        expect([status, sent]).toEqual([400, []]);
        expect((await askWith(own, { 'x-sluice-lossy': 'refuse' })).status).toBe(200);
      });
    });
  },
);

test('a count of tokens opens the seals of the request within it, and a lone content of which nothing is left is empty', async () => {
  const [foreign, own] = ['other', 'gemini'].map((provider) =>
    wrapSeal({ kind: 'thought-signature', data: 'own', origin: { provider, model: geminiModel, account: 'c1' } }),
  );
  const path = `/v1beta/models/${geminiModel}:countTokens`;
  for (const wrapper of ['generateContentRequest', 'generate_content_request']) {
    const count = (seal: string) =>
      `{"${wrapper}":{"n":1.0,"contents":[${talk},{"role":"model","parts":[{"text":"a"${seal}}]}]}}`;
    upstream.seen.length = 0;
    const brought = await ask(path, count(`,"thoughtSignature":"${own}"`));
    expect(brought.sent).toEqual([count(',"thoughtSignature":"own"')]);
    const left = await ask(path, count(`,"thoughtSignature":"${foreign}"`));
    expect(left.sent[1]).toBe(count(''));
    expect(left.dropped).toBe(`${wrapper}.contents[1].parts[0].thoughtSignature;why=foreign-reasoning`);
  }
  upstream.seen.length = 0;
  const lone = (content: string) => `{"contents":${content},"n":1.0}`;
  const { sent } = await ask(path, lone(`{"role":"model","parts":[{"text":"","thoughtSignature":"${foreign}"}]}`));
  expect(sent).toEqual([lone('{}')]);
});

const refusals: Record<string, [seal: string, message: string]> = {
  messages: ['EqQB', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  responses: ['gAAAA', 'The encrypted content gAAA...AA== could not be verified.'],
  gemini: ['c2ln', 'Corrupted thought signature.'],
};

test.each(Object.entries(refusals))(
  'a seal of another account, which only the provider can tell, costs one refusal: %s',
  async (id, [seal, message]) => {
    const { body, message: sealed, reduced, path, at } = natives[id] as Native;
    const refusal = {
      type: 'error',
      error: { message, type: 'invalid_request_error', status: 'INVALID_ARGUMENT', code: 400 },
    };
    upstream.answer((request, response, raw) =>
      request.body.includes(`"${seal}"`) ? json(response, refusal, 400) : answer(request, response, raw),
    );
    for (const [, isStreamed] of ways) {
      upstream.seen.length = 0;
      const { status, dropped, sent } = await ask(path(isStreamed), body(sealed(seal), isStreamed));
      expect([status, sent.length]).toEqual([200, 2]);
      expect(JSON.parse(sent[1] ?? '')).toEqual(JSON.parse(body(reduced, isStreamed)));
      expect(dropped).toBe(`${id === 'messages' ? 'thinking' : at};why=foreign-reasoning`);
    }
    upstream.answer(answer);
  },
);

test('Claude is asked once more without thinking if it misses the thoughts of a model that has none', async () => {
  const message = 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.';
  upstream.answer((request, response, raw) =>
    request.body.includes('budget_tokens')
      ? json(response, { type: 'error', error: { type: 'invalid_request_error', message } }, 400)
      : answer(request, response, raw),
  );
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] };
  const asked = { model: 'claude', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hi' }, use, result] };
  const body = JSON.stringify({ ...asked, thinking: { type: 'enabled', budget_tokens: 2_000 } });
  const { status, sent } = await ask('/v1/messages', body);
  expect([status, JSON.parse(sent[1] ?? '')]).toEqual([200, asked]);
  upstream.answer(answer);
});

test('the loss is in the record of the request', async () => {
  const seal = wrapSeal({
    kind: 'encrypted',
    data: 'foreign',
    origin: { provider: 'other', model: 'm', account: 'a' },
  });
  const { body, message, path } = natives.responses as Native;
  await ask(path(false), body(message(seal), false));
  expect(await gateway.record(lastRequestId)).toMatchObject({
    dropped: [{ code: 'foreign-reasoning', field: 'input[]', times: 1 }],
  });
});

describe('a response that Sluice keeps', () => {
  const chats = () => [mainProvider(upstream.baseUrl, { id: 'responses', serves: ['chat'], models: ['gpt'] })];
  const reopen = async (more: Partial<ConfigInput> = {}) => {
    await gateway.stop();
    await open(more);
  };

  /** One answer of a chat, and the items by which its client refers to it. */
  async function keptAnswer() {
    await reopen({ providers: chats() });
    upstream.answer((_request, response) =>
      json(response, chat.completion({ reasoning_content: 'Hm.', content: 'From a chat' })),
    );
    const first = await gateway.client.responses.create({ model: 'gpt', input: 'Hi' });
    upstream.answer(answer);
    await reopen();
    upstream.seen.length = 0;
    return first;
  }

  const said = { type: 'message', role: 'assistant', content: [{ text: 'From a chat' }] };
  const inputSeen = () => chat.bodyOf(upstream.seen[0] ?? expect.fail()).input as Record<string, unknown>[];

  test('is gone on from at a provider of Responses by references to its items, which are no one else’s', async () => {
    const { output } = await keptAnswer();
    const references = output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }));
    await gateway.client.responses.create({ model: 'gpt', input: [...references, { role: 'user', content: 'Go on' }] });
    expect(inputSeen()).toMatchObject([said, { role: 'user', content: 'Go on' }]);
    expect(JSON.stringify(inputSeen())).not.toMatch(/sluice|c2wx/);
  });

  test('by its id, and by its items themselves', async () => {
    const first = await keptAnswer();
    await gateway.client.responses.create({ model: 'gpt', input: 'Go on', previous_response_id: first.id });
    expect(inputSeen()).toMatchObject([{ content: 'Hi' }, said, { content: 'Go on' }]);
    expect(JSON.stringify(inputSeen())).not.toMatch(/sluice|c2wx/);
    upstream.seen.length = 0;
    const items = first.output.filter((item) => item.type === 'reasoning' || item.type === 'message');
    await gateway.client.responses.create({
      model: 'gpt',
      input: [...items, { role: 'user', content: 'Go on' }],
    });
    expect(inputSeen()).toMatchObject([said, { content: 'Go on' }]);
    expect(JSON.stringify(inputSeen())).not.toMatch(/sluice|c2wx/);
  });
});
