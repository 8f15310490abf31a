/** Texts translated without being parsed must give the same result as parsed ones. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import { Registry, servedApis } from '../../../../server/apis/registry.ts';
import { AnswerTranslation } from '../../../../server/exchange/translation/answer-translation.ts';
import * as claude from '../../../support/strict-anthropic.ts';
import * as chat from '../../../support/strict-chat.ts';
import * as gemini from '../../../support/strict-gemini.ts';
import { here, type Json, moment, streamOf, translate, translatorOf } from '../../apis/translation/translating.ts';

const registry = new Registry(servedApis);
const asked: Record<WireName, Json> = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true },
  'openai-responses': { model: 'm', input: 'x', stream: true },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream: true },
  'gemini-generate': { model: 'm', contents: [{ parts: [{ text: 'x' }] }], stream: true },
};

type Upstream = 'openai-chat' | 'anthropic-messages' | 'gemini-generate';
const pairs = (Object.keys(asked) as WireName[]).flatMap((client) =>
  (['openai-chat', 'anthropic-messages', 'gemini-generate'] as const).flatMap((upstream) =>
    client === upstream ? [] : [[client, upstream] as [WireName, Upstream]],
  ),
);

/** A piece of an answer: a text, or something else in between. */
type Piece = string | { thought: string };

const deltas: Record<Upstream, (pieces: readonly Piece[]) => string> = {
  'openai-chat': (pieces) =>
    pieces
      .map((piece) => chat.chunk(typeof piece === 'string' ? { content: piece } : { reasoning_content: piece.thought }))
      .join('') + chat.ending('stop'),
  'anthropic-messages': (pieces) =>
    claude.begun +
    pieces
      .map((piece, index) => {
        const isText = typeof piece === 'string';
        const block = isText ? claude.text('') : { type: 'thinking', thinking: '', signature: '' };
        const delta = isText
          ? { type: 'text_delta', text: piece }
          : { type: 'thinking_delta', thinking: piece.thought };
        return (
          claude.event({ type: 'content_block_start', index, content_block: block }) +
          [delta, delta, delta]
            .map((each) => claude.event({ type: 'content_block_delta', index, delta: each }))
            .join('') +
          claude.event({ type: 'content_block_stop', index })
        );
      })
      .join('') +
    claude.ending(),
  'gemini-generate': (pieces) =>
    streamOf(
      [
        ...pieces.map((piece) =>
          gemini.generated([typeof piece === 'string' ? { text: piece } : { text: piece.thought, thought: true }]),
        ),
        gemini.answered([]),
      ],
      false,
    ).toString(),
};

function translationOf(client: WireName, upstream: Upstream): AnswerTranslation {
  const [route, clientRoute] = [registry.conversationRoute(upstream, true), registry.conversationRoute(client, true)];
  const [api] = servedApis;
  if (!route || !clientRoute) throw new Error('There is no such route.');
  return new AnswerTranslation({
    request: translate({ from: client, to: upstream, model: 'm' }, asked[client]),
    translator: translatorOf(client, upstream),
    ...{ api, upstream: route, stream: clientRoute.stream, requestId: 'r', requestValues: 0, mayParse: () => true },
    keepReasoning: () => {},
    vectorsApart: async () => null,
  });
}

/** Translates with the events alone, parsing each of them. */
function slowly(client: WireName, upstream: Upstream, stream: Buffer): string {
  const events = translate({ from: client, to: upstream, model: 'm' }, asked[client]).events(moment);
  const told: Buffer[] = [];
  const filter = (bytes: Buffer) => {
    const event = sseFraming.readEvent(bytes);
    if (event) told.push(events.push(event));
    return null;
  };
  sseFraming.openGate(() => {}, { filter }).push(stream);
  return Buffer.concat([...told, events.end()]).toString();
}

/** The client's events without times. */
const parsed = (text: string) => text.replaceAll(/"created(?:_at)?":\d+/g, '').split(/\r?\n\r?\n/);

const pieceOf = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom('Once ', 'upon', ' "a" time\n', '', 'é', '\u{1F30D}', '\\', '</script>', '0'),
  },
  { weight: 1, arbitrary: fc.record({ thought: fc.constantFrom('Hm.', 'So ', '"') }) },
);

describe.each(pairs)('for a client of %s, at an upstream of %s', (client, upstream) => {
  test('texts that are not parsed give the same result as those that are', () => {
    fc.assert(
      fc.property(fc.array(pieceOf, { maxLength: 30 }), fc.integer({ min: 40, max: 4_000 }), (pieces, size) => {
        const stream = Buffer.from(deltas[upstream](pieces));
        const translation = translationOf(client, upstream);
        const told: Buffer[] = [];
        for (let at = 0; at < stream.length; at += size)
          told.push(here(translation.push(stream.subarray(at, at + size))));
        told.push(here(translation.end()));
        expect(parsed(Buffer.concat(told).toString())).toEqual(parsed(slowly(client, upstream, stream)));
      }),
      { numRuns: 60 },
    );
  });

  test('hardly any of the events of a long text is parsed', () => {
    const count = 500;
    const words = Array.from({ length: count }, (_, index) => ` word ${index}`);
    const stream = Buffer.from(
      upstream === 'anthropic-messages'
        ? claude.begun +
            claude.event({ type: 'content_block_start', index: 0, content_block: claude.text('') }) +
            words
              .map((text) =>
                claude.event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
              )
              .join('')
        : deltas[upstream](words),
    );
    const translation = translationOf(client, upstream);
    const parse = vi.spyOn(JSON, 'parse');
    try {
      translation.push(stream);
      expect(parse.mock.calls.length).toBeLessThan(count / 10);
    } finally {
      parse.mockRestore();
    }
  });
});
