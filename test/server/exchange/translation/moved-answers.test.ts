/** An answer that takes long is translated in another thread from some event on, and the client cannot tell. */
import { afterAll, describe, expect, test } from 'vitest';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import { Registry, servedApis } from '../../../../server/apis/registry.ts';
import { createEmbeddingsTranslator } from '../../../../server/apis/translation/embeddings-translator.ts';
import { createKeptId } from '../../../../server/apis/translation/kept-reasoning.ts';
import { AnswerTranslation } from '../../../../server/exchange/translation/answer-translation.ts';
import { ClientReasoning } from '../../../../server/exchange/translation/client-reasoning.ts';
import { RequestApart, vectorsApart } from '../../../../server/exchange/translation/request-apart.ts';
import { TranslationThreads } from '../../../../server/exchange/translation/translation-threads.ts';
import type { ReasoningStore } from '../../../../server/store/ports/kept-stores.ts';
import { clientWires, saidKinds, upstreamStreams } from '../../../bench/conversations.ts';
import { type Json, targetOf, translatorOf } from '../../apis/translation/translating.ts';

const threads = new TranslationThreads();
afterAll(() => threads.stop());

const registry = new Registry(servedApis);
const noReasoning: ReasoningStore = { keep() {}, find: () => new Map(), flush() {}, close() {} };
const asked: Record<WireName, Json> = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true },
  'openai-responses': { model: 'm', input: 'x', stream: true },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream: true },
  'gemini-generate': { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
};
const upstreams = clientWires;
type Upstream = (typeof upstreams)[number];
const pairs = clientWires.flatMap((client) =>
  upstreams.flatMap((upstream) => (client === upstream ? [] : [[client, upstream] as const])),
);
const identity = { id: createKeptId(), isKept: true, previousId: null };

interface Told {
  text: string;
  /** How often another thread was asked to go on. */
  moves: number;
  kept: string[];
  losses: AnswerTranslation['losses'];
  failure: string | null;
}

class Answer {
  moves = 0;
  readonly kept: string[] = [];
  readonly translation: AnswerTranslation;

  constructor(
    [client, upstream]: readonly [WireName, Upstream],
    mayMove: boolean,
    { isStream = true, requestValues = 9 } = {},
  ) {
    const [route, clientRoute] = [registry.conversationRoute(upstream, true), registry.conversationRoute(client, true)];
    const [api] = servedApis;
    if (!route || !clientRoute) throw new Error('There is no such route.');
    const translator = translatorOf(client, upstream);
    const body = Buffer.from(JSON.stringify(asked[client]));
    const fromUrl = client === 'gemini-generate' ? { model: 'm', stream: true } : undefined;
    const way = { kind: 'conversation' as const, client, upstream };
    const reasoning = new ClientReasoning(noReasoning, 'k1');
    const apart = async () => {
      this.moves++;
      return new RequestApart(threads, { way, body, values: 9, fromUrl, losses: [], reasoning }).forTarget(
        targetOf('m'),
      );
    };
    this.translation = new AnswerTranslation({
      request: translator.request(translator.read(body, fromUrl), targetOf('m')),
      ...{ translator, api, upstream: route, stream: isStream ? clientRoute.stream : null, requestId: 'r' },
      ...{ requestValues, mayParse: () => true, keepReasoning: () => {}, vectorsApart: async () => null },
      ...(mayMove && { apart }),
      ...(client === 'openai-responses' && {
        identity,
        keep: (response) => void this.kept.push(withoutClock(response)),
      }),
    });
    this.translation.received({ 'x-request-id': 'of-the-upstream' });
  }

  async stream(pieces: readonly Buffer[]): Promise<Told> {
    const told: Buffer[] = [];
    for (const piece of pieces) told.push(await this.translation.push(piece));
    told.push(await this.translation.end());
    return this.#told(Buffer.concat(told).toString());
  }

  async whole(bytes: Buffer): Promise<Told> {
    return this.#told((await this.translation.whole(bytes)).toString());
  }

  #told(text: string): Told {
    const { losses, failure } = this.translation;
    return { text: withoutClock(text), moves: this.moves, kept: this.kept, losses, failure };
  }
}

/** What an answer lacks of its own comes from the clock and from chance. */
function withoutClock(text: string): string {
  return text.replace(/"created(?:_at)?":\d+/g, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');
}

/** In pieces of the size that a socket reads at a time. */
function asReceived(bytes: Buffer): Buffer[] {
  const starts = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) => at * 65_536);
  return starts.map((from) => bytes.subarray(from, from + 65_536));
}

/** With thousands of values that mean nothing. */
function heavy(event: Buffer): Buffer {
  return Buffer.from(event.toString().replace('{', `{"x_padding":[${'0,'.repeat(9_000)}0],`));
}

async function expectSame(pair: readonly [WireName, Upstream], pieces: readonly Buffer[], moves: number) {
  const expected = await new Answer(pair, false).stream(pieces);
  expect(expected.moves).toBe(0);
  expect(await new Answer(pair, true).stream(pieces)).toEqual({ ...expected, moves });
}

describe.each(pairs)('for a client of %s, at an upstream of %s', (...pair) => {
  test.each(saidKinds)('a stream of %s moves at any event', async (said) => {
    const { begin, events, end } = upstreamStreams[pair[1]](said, 12);
    const stream = Buffer.concat([begin, ...events, end]).toString();
    const all = stream.split(/(?<=\n\r?\n)/).map((event) => Buffer.from(event));
    // `[DONE]` has no values.
    for (let at = 0; at < all.length && all[at]?.includes('{'); at++) {
      const pieces = all.map((event, index) => (index === at ? heavy(event) : event));
      await expectSame(pair, pieces, 1);
      // In one piece with others before and after it.
      if (at === 5) await expectSame(pair, [Buffer.concat(pieces.slice(0, 3)), Buffer.concat(pieces.slice(3))], 1);
    }
  });

  test('a stream moves before all of a long event is held', async () => {
    const { begin, events, end } = upstreamStreams[pair[1]]('text', 3);
    const [first = Buffer.alloc(0), ...rest] = events;
    const long = Buffer.from(first.toString().replace('{', `{"x_padding":"${'x'.repeat(3_000_000)}",`));
    const bytes = Buffer.concat([begin, long, ...rest, end]);
    await expectSame(pair, asReceived(bytes), 1);
  });

  test('ordinary answers stay in their thread', async () => {
    const { begin, events, end } = upstreamStreams[pair[1]]('text', 5_000);
    await expectSame(pair, asReceived(Buffer.concat([begin, ...events, end])), 0);
  });

  test('a long answer moves once, because its end repeats it', async () => {
    const { begin, events, end } = upstreamStreams[pair[1]]('text', 1_000);
    const many = Buffer.concat(events);
    const pieces = Array.from({ length: Math.ceil(4_500_000 / many.length) }, () => many);
    await expectSame(pair, [begin, ...pieces, end], 1);
  });
});

test('calls that come at the same time are told in another thread once there are many', async () => {
  const chunk = (delta: Json, finish: string | null = null) =>
    Buffer.from(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  const call = (index: number) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name: 'x', arguments: '' },
  });
  const indexes = Array.from({ length: 1_500 }, (_, index) => index);
  const pieces = [
    ...indexes.map((index) => chunk({ tool_calls: [call(index)] })),
    ...indexes.map((index) => chunk({ tool_calls: [{ index, function: { arguments: '{}' } }] })),
    chunk({}, 'tool_calls'),
  ];
  for (const client of ['anthropic-messages', 'openai-responses', 'gemini-generate'] as const) {
    await expectSame([client, 'openai-chat'], pieces, 1);
  }
});

describe.each(['anthropic-messages', 'openai-responses', 'gemini-generate'] as const)('a client of %s', (client) => {
  const tool_calls = Array.from({ length: 1_000 }, (_, index) => ({
    ...{ id: `c${index}`, type: 'function' },
    function: { name: 'x', arguments: '{"a":1}' },
  }));
  const choices = [{ index: 0, message: { role: 'assistant', content: 'x', tool_calls }, finish_reason: 'tool_calls' }];
  const answer = Buffer.from(JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage: {} }));

  test.each([true, false])('gets a large whole answer from another thread, stream: %s', async (isStream) => {
    const expected = await new Answer([client, 'openai-chat'], false, { isStream }).whole(answer);
    expect(expected.text.length).toBeGreaterThan(50_000);
    expect(await new Answer([client, 'openai-chat'], true, { isStream }).whole(answer)).toEqual({
      ...expected,
      moves: 1,
    });
  });

  test('is told why a large answer cannot be used', async () => {
    const odd = Buffer.from(`[${'0,'.repeat(9_000)}0]`);
    const expected = await new Answer([client, 'openai-chat'], false).whole(odd);
    expect(await new Answer([client, 'openai-chat'], true).whole(odd)).toEqual({ ...expected, moves: 1 });
  });
});

test('a provider that repeats the tools of a large request is no reason to move', async () => {
  const { begin, events, end } = upstreamStreams['openai-responses']('text', 3);
  const pieces = [heavy(begin), ...events, end];
  const moves = async (requestValues: number) => {
    const answer = new Answer(['anthropic-messages', 'openai-responses'], true, { requestValues });
    return (await answer.stream(pieces)).moves;
  };
  expect([await moves(9), await moves(9_000)]).toEqual([1, 0]);
});

describe('an answer with vectors', () => {
  const answerOf = (length: number) =>
    Buffer.from(JSON.stringify({ embeddings: [{ values: Array(length).fill(0.123456789) }] }));
  const translator = createEmbeddingsTranslator('openai-embeddings', 'gemini-embeddings', false);
  const body = Buffer.from('{"model":"m","input":["x"]}');

  async function told(answer: Buffer) {
    const [api] = servedApis;
    const route = registry.wholeRoute('gemini-embeddings');
    if (!translator || !route) throw new Error('There is no such route.');
    const rendered: number[] = [];
    const translation = new AnswerTranslation({
      ...{ request: translator.open(body)({ model: 'm' }), translator, api, upstream: route, stream: null },
      ...{ requestId: 'r', requestValues: 0, mayParse: () => true, keepReasoning: () => {} },
      vectorsApart: (bytes, wanted) => {
        rendered.push(bytes.length);
        return vectorsApart(threads, bytes, wanted);
      },
    });
    return { text: (await translation.whole(answer)).toString(), rendered };
  }

  test('is rendered in another thread if there are many numbers', async () => {
    const few = answerOf(1_900);
    expect((await told(few)).rendered).toEqual([]);
    const many = answerOf(9_000);
    const { text, rendered } = await told(many);
    expect(rendered).toEqual([many.length]);
    expect(text.length).toBeGreaterThan(90_000);
    expect(text).toBe(wholeText(many));
  });

  test('has to have as many vectors as were asked for', async () => {
    const other = Buffer.from(JSON.stringify({ embeddings: Array(3_000).fill({ values: [0.5] }) }));
    expect((await told(other)).text).toBe('It has no content.');
  });

  function wholeText(answer: Buffer): string {
    const whole = translator?.open(body)({ model: 'm' }).whole(answer);
    return whole?.ok ? whole.body.toString() : '';
  }
});
