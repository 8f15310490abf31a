import { describe, expect, it } from 'vitest';
import { outputRateOf } from '../../../../../renderer/state/requests/live-request.ts';
import { nodeOf } from '../../../../../renderer/views/requests/send-again/code/node.ts';
import { pythonOf } from '../../../../../renderer/views/requests/send-again/code/python.ts';
import { curlOf, hasSdk } from '../../../../../renderer/views/requests/send-again/code/sdk-call.ts';
import { diffTexts } from '../../../../../renderer/views/requests/send-again/text-diff.ts';
import type { CapturedExchange, CapturedRequest } from '../../../../../server/contract/capture.ts';
import { answerTextOf, contentOf } from '../../../../../server/contract/conversation/body-content.ts';
import type { CapturedBody, RequestInFull } from '../../../../../server/contract/request-views.ts';
import { modelOf, sentRequestOf, withModel } from '../../../../../server/contract/sent-request.ts';
import { finished } from '../../../events.ts';

const body = '{"model":"gpt-x", "n": 1.0}';
const message = { headers: null, body: null, bytes: null, gap: null };

function shown(request: Partial<CapturedRequest<CapturedBody>>): RequestInFull {
  const capture: CapturedExchange<CapturedBody> = {
    request: {
      ...message,
      method: 'POST',
      url: '/v1/chat/completions?a=b',
      headers: [
        ['Content-Type', 'application/json'],
        ['authorization', '[redacted]'],
        ['Anthropic-Version', '2023-06-01'],
      ],
      body: { encoding: 'utf8', data: body },
      ...request,
    },
    response: { ...message, status: 200 },
    attempts: [],
  };
  return { request: { ...finished('r1'), seq: 1 }, capture, captureAbsence: null, isRecent: false, pin: null };
}

describe('an earlier request', () => {
  it('is what was sent, byte for byte, without its credentials', () => {
    const kept = sentRequestOf(shown({}));
    expect(kept).toMatchObject({ kind: 'kept', method: 'POST', path: '/v1/chat/completions?a=b', body });
    expect(kept.kind === 'kept' && kept.headers).toEqual({
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    });
  });

  it.each([
    ['of which only the beginning was kept', shown({ gap: 'too-long' }), 'too-long'],
    ['with files', shown({ gap: 'upload', body: null }), 'upload'],
    ['that is not text', shown({ body: { encoding: 'base64', data: 'AAAA' } }), 'not-text'],
    ['without capture', { ...shown({}), capture: null, captureAbsence: 'off' as const }, 'off'],
  ])('%s is missing, with the reason', (_name, full, why) => {
    expect(sentRequestOf(full)).toMatchObject({ kind: 'missing', why });
  });
});

describe('another model', () => {
  it('stands in the body, of which the rest stays', () => {
    expect(withModel({ path: '/v1/x', body }, 'gpt-x')).toEqual({ path: '/v1/x', body });
    expect(withModel({ path: '/v1/x', body }, 'acme/y')?.body).toBe('{\n  "model": "acme/y",\n  "n": 1\n}');
    expect(modelOf({ path: '/v1/x', body })).toBe('gpt-x');
  });

  it('stands in the path of Gemini’s API', () => {
    const call = { path: '/v1beta/models/gemini-x:streamGenerateContent?alt=sse', body: '{}' };
    expect(withModel(call, 'acme/$&')).toEqual({
      path: '/v1beta/models/acme%2F%24%26:streamGenerateContent?alt=sse',
      body: '{}',
    });
    expect(modelOf(call)).toBe('gemini-x');
    expect(modelOf({ path: '/v1beta/models/50%:generateContent', body: '{}' })).toBe('50%');
  });

  it('cannot be set where there is none', () => {
    expect(withModel({ path: '/v1/files', body: 'hello' }, 'm')).toBe(null);
    expect(modelOf({ path: '/v1/files', body: '' })).toBe(null);
  });
});

const call = {
  method: 'POST',
  origin: 'http://127.0.0.1:4810',
  path: '/v1/chat/completions',
  headers: { 'content-type': 'application/json' },
  keyPlaceholder: 'YOUR_KEY',
};

describe('a request as a program', () => {
  it('of the shell sends the very body', () => {
    expect(curlOf({ ...call, body: `{"a":"it's"}` })).toBe(
      [
        `curl 'http://127.0.0.1:4810/v1/chat/completions'`,
        `-H 'Authorization: Bearer YOUR_KEY'`,
        `-H 'content-type: application/json'`,
        `--data-raw '{"a":"it'\\''s"}'`,
      ].join(' \\\n  '),
    );
    expect(curlOf({ ...call, method: 'GET', headers: {}, body: '' })).not.toContain('-X');
    expect(curlOf({ ...call, method: 'DELETE', headers: {}, body: '' })).toContain('-X DELETE');
  });

  it('in Python uses the SDK, with the values as Python writes them', () => {
    const text = pythonOf({ ...call, body: '{"model":"m","stream":true,"stop":null,"n":[1.5,[]],"o":{"a":false}}' });
    expect(text).toContain('client = OpenAI(base_url="http://127.0.0.1:4810/v1", api_key="YOUR_KEY")');
    expect(text).toContain('    "stop": None,\n    "n": [\n        1.5,\n        [],\n    ],\n');
    expect(text).toContain('    "o": {\n        "a": False,\n    },\n}');
    expect(text).toContain('for event in client.chat.completions.create(**body):');
  });

  it('speaks to Anthropic’s and Google’s API with their own SDKs', () => {
    const claude = { ...call, path: '/v1/messages', body: '{"model":"m","max_tokens":5,"messages":[]}' };
    expect(pythonOf(claude)).toContain('Anthropic(base_url="http://127.0.0.1:4810"');
    expect(nodeOf(claude)).toContain('await client.messages.create({');
    const gemini = {
      ...call,
      path: '/v1beta/models/gemini-x:streamGenerateContent?alt=sse',
      body: '{"contents":[],"generationConfig":{"topK":5},"systemInstruction":{"parts":[]}}',
    };
    expect(pythonOf(gemini)).toContain('for event in client.models.generate_content_stream(**body):');
    expect(pythonOf(gemini)).toContain('"model": "gemini-x",');
    const node = nodeOf(gemini) ?? '';
    expect(node).toContain('for await (const event of answer)');
    const config = /generateContentStream\((\{[\s\S]*\})\);/.exec(node)?.[1] ?? '';
    expect(JSON.parse(config)).toEqual({
      model: 'gemini-x',
      contents: [],
      config: { topK: 5, systemInstruction: { parts: [] } },
    });
  });

  it('is none of an SDK for a path that no SDK has a call for, or a body that is no JSON', () => {
    expect(pythonOf({ ...call, path: '/v1/files', body: '{}' })).toBe(null);
    expect(nodeOf({ ...call, body: 'hello' })).toBe(null);
    expect([hasSdk(call), hasSdk({ ...call, method: 'GET' }), hasSdk({ ...call, path: '/v1/files' })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('two answers', () => {
  it('are compared by what they say', () => {
    const text = (data: string) => answerTextOf(contentOf({ headers: null, body: { encoding: 'utf8', data } }));
    const whole = '{"choices":[{"message":{"content":"Hello"}}]}';
    const stream =
      'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\ndata: {"choices":[{"delta":{"content":"lo"}}]}\n\n';
    expect([text(whole), text(stream), text('{"error":1}'), text('')]).toEqual(['Hello', 'Hello', '{"error":1}', null]);
  });

  it('differ in words', async () => {
    const pieces = await diffTexts('a red cat', 'a blue cat');
    const sideOf = (side: string) => pieces.filter((piece) => piece.side === side).map(({ text }) => text);
    expect([sideOf('first'), sideOf('second'), sideOf('both')]).toEqual([['red'], ['blue'], ['a ', ' cat']]);
  });

  it('may be long', async () => {
    const words = (seed: number) => Array.from({ length: 40_000 }, (_, at) => (at * seed) % 977).join(' ');
    const pieces = await diffTexts(words(3), words(7));
    expect(pieces.length).toBeGreaterThan(0);
  });
});

describe('the output speed', () => {
  const streamed = {
    stream: true,
    outcome: 'ok',
    usage: { outputTokens: 150 },
    usageCertainty: 'reported',
    firstByteMs: 500,
    totalMs: 2_000,
  } as const;

  it('counts from the first byte on', () => {
    expect(outputRateOf(streamed)).toBe(100);
  });

  it.each([
    { stream: false },
    { outcome: 'error' as const },
    { usage: null },
    { usageCertainty: 'reserved' as const },
    { totalMs: 510 },
    { firstByteMs: null },
  ])('is not known of %o', (more) => {
    expect(outputRateOf({ ...streamed, ...more })).toBe(null);
  });
});
