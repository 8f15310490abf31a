/** The cost of translating a stream, by counting: hardly any event is parsed, and none is delayed. */
import { describe, expect, test, vi } from 'vitest';
import { converseFrames } from '../../../../server/apis/bedrock/provider/bedrock.ts';
import { FrameUnpacker } from '../../../../server/apis/bedrock/provider/frame-unpacker.ts';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { Registry, servedApis } from '../../../../server/apis/registry.ts';
import { EventsReader } from '../../../../server/exchange/readers/events-reader.ts';
import { AnswerTranslation } from '../../../../server/exchange/translation/answer-translation.ts';
import {
  type Said,
  saidKinds,
  type UpstreamWire,
  upstreamStreams,
  upstreamWires,
} from '../../../bench/conversations.ts';
import { translatedConversations } from '../../../bench/translated-phase.ts';
import { cpuMsOf } from '../../../support/cpu-work.ts';
import { here, longHistory, moment, streamOf, targetOf, translatorOf } from '../../apis/translation/translating.ts';

type Conversation = (typeof translatedConversations)[number];

const registry = new Registry(servedApis);
const events = 400;

function routeOf(wire: UpstreamWire) {
  const route = registry.conversationRoute(wire, true);
  if (!route?.stream) throw new Error('There is no such route.');
  return { ...route, stream: route.stream };
}

function requestOf({ client, upstream }: Omit<Conversation, 'said'>) {
  const translator = translatorOf(client, upstream);
  const named = client === 'gemini-generate' ? { model: 'm', stream: true } : undefined;
  return translator.request(translator.read(longHistory(client, 100, 1), named), targetOf('m'));
}

function translationOf({ client, upstream }: Omit<Conversation, 'said'>): AnswerTranslation {
  const [api] = servedApis;
  const translation = new AnswerTranslation({
    request: requestOf({ client, upstream }),
    translator: translatorOf(client, upstream),
    ...{
      api,
      upstream: routeOf(upstream),
      stream: routeOf(client).stream,
      requestId: 'r',
      requestValues: 0,
      mayParse: () => true,
    },
    keepReasoning: () => {},
    vectorsApart: async () => null,
  });
  translation.received({ 'x-amzn-requestid': answerId });
  return translation;
}

const answerId = 'aws-1';

/** The upstream's bytes for a stream with `count` events. */
function bytesOf(upstream: UpstreamWire, said: Said, count = events): Buffer {
  const { begin, events: list, end } = upstreamStreams[upstream](said, count);
  return unpacked(upstream, Buffer.concat([begin, ...list, end]));
}

function unpacked(upstream: UpstreamWire, bytes: Buffer): Buffer {
  return upstream === 'bedrock-converse' ? new FrameUnpacker(converseFrames).push(bytes) : bytes;
}

/** Translates with the events alone, parsing each of them. */
function slowly(conversation: Conversation): string {
  const translated = requestOf(conversation).events({ ...moment, answerId: () => answerId });
  const told: Buffer[] = [];
  const filter = (bytes: Buffer) => {
    const event = sseFraming.readEvent(bytes);
    if (event) told.push(translated.push(event));
    return null;
  };
  sseFraming.openGate(() => {}, { filter }).push(bytesOf(conversation.upstream, conversation.said));
  return Buffer.concat([...told, translated.end()]).toString();
}

const withoutClock = (text: string) => text.replaceAll(/"created(?:_at)?":\d+/g, '');

function parsesOf(work: () => void): number {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    work();
    return parse.mock.calls.length;
  } finally {
    parse.mockRestore();
  }
}

describe.each(translatedConversations)('$said for a client of $client, at an upstream of $upstream', (conversation) => {
  const { client, upstream, said } = conversation;

  test('is the same as if each event had been parsed, wherever the stream is cut', () => {
    const expected = withoutClock(slowly(conversation));
    const stream = bytesOf(upstream, said);
    for (const size of [50, 1_000, stream.length]) {
      const translation = translationOf(conversation);
      const told: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size)
        told.push(here(translation.push(stream.subarray(at, at + size))));
      told.push(here(translation.end()));
      expect(withoutClock(Buffer.concat(told).toString())).toBe(expected);
    }
  });

  test('is hardly ever parsed, however long the stream is', () => {
    const parses = (count: number) => {
      const translation = translationOf(conversation);
      const stream = bytesOf(upstream, said, count);
      return parsesOf(() => translation.push(stream));
    };
    const [once, twice] = [parses(events), parses(2 * events)];
    expect(once).toBeLessThan(events / 10);
    expect(twice).toBe(once);
  });

  test('reaches the client with the upstream’s first event, within a millisecond', async () => {
    const { begin, events: list } = upstreamStreams[upstream](said, events);
    const first = unpacked(upstream, Buffer.concat([begin, ...list.slice(0, 1)]));
    let leastMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20; round++) {
      const translation = translationOf(conversation);
      let told: Buffer = Buffer.alloc(0);
      leastMs = Math.min(leastMs, await cpuMsOf(() => (told = here(translation.push(first)))));
      // A client of Gemini's API receives a call as a whole.
      if (client !== 'gemini-generate' || said !== 'arguments') expect(told.length).toBeGreaterThan(0);
    }
    expect(leastMs).toBeLessThan(1);
  });
});

describe.each(upstreamWires)('the stream of an upstream of %s', (upstream) => {
  test.each(saidKinds)('is judged without parsing its events of %s', (said) => {
    const { stream: format } = routeOf(upstream);
    const bytes = bytesOf(upstream, said);
    const more = { headers: {}, answers: 1, stripUsage: false, text: null };
    const reader = new EventsReader({ format, ...more });
    expect(parsesOf(() => reader.read(bytes))).toBeLessThan(events / 10);
  });
});

test('the last token count is passed on, although its event was not parsed and no other has one', () => {
  const chunk = (index: number) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: `word ${index}` }] }, index: 0 }],
    usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 1 + index, totalTokenCount: 31 + index },
  });
  const last = { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP', index: 0 }] };
  const stream = streamOf([...Array.from({ length: 20 }, (_, index) => chunk(index)), last], false);
  const translation = translationOf({ client: 'anthropic-messages', upstream: 'gemini-generate' });
  const told = translation.push(stream).toString() + translation.end().toString();
  expect(told).toContain('"output_tokens":20}');
});
