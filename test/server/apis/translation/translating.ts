/** Translates values that a test writes, and returns values. */

import { sseFraming } from '../../../../server/apis/core/streams/sse-framing.ts';
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import type { Loss } from '../../../../server/apis/neutral/losses.ts';
import type { Target } from '../../../../server/apis/neutral/requests/rendering.ts';
import type { TranslatedRequest } from '../../../../server/apis/translation/translated-request.ts';
import { createTranslator, type Translator } from '../../../../server/apis/translation/translator.ts';
import type { MaybePromise } from '../../../../server/ground/promises.ts';

export type Json = Record<string, unknown>;

/** Of an answer that is short enough to be translated in this thread. */
export function here<Value>(value: MaybePromise<Value>): Value {
  if (value instanceof Promise) throw new Error('It is translated in another thread.');
  return value;
}

export const moment = { createdAt: 1_790_000_000 };

export function targetOf(model: string): Target {
  return { model, origin: { provider: 'provider', model, account: 'account' } };
}

export function translatorOf(client: WireName, upstream: UpstreamWireName): Translator {
  const translator = createTranslator(client, upstream);
  if (!translator) throw new Error(`Nothing translates ${client} into ${upstream}.`);
  return translator;
}

export interface Way {
  from: WireName;
  to: UpstreamWireName;
  /** The upstream's name for it. */
  model: string;
}

export function translate({ from, to, model }: Way, body: unknown): TranslatedRequest {
  const translator = translatorOf(from, to);
  return translator.request(translator.read(Buffer.from(JSON.stringify(body))), targetOf(model));
}

/** What the upstream receives. */
export function sent(way: Way, body: unknown): Json {
  return JSON.parse(translate(way, body).body.toString());
}

/** For example `dropped top_k: no-equal`. */
export function lossesOf(way: Way, body: unknown): string[] {
  return translate(way, body).losses.map(lineOf);
}

export function lineOf({ fate, field, code }: Loss): string {
  return `${fate} ${field}: ${code}`;
}

/** What a client receives for a whole answer. */
export function answered(request: TranslatedRequest, answer: unknown): Json {
  const result = request.whole(Buffer.from(JSON.stringify(answer)), moment);
  if (!result?.ok) throw new Error(`No answer: ${JSON.stringify(result)}`);
  return JSON.parse(result.body.toString());
}

/** An upstream's stream, with names of events if its API has them. */
export function streamOf(events: readonly (Json | string)[], isNamed: boolean): Buffer {
  const texts = events.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const name = isNamed && typeof event !== 'string' ? `event: ${event.type}\n` : '';
    return `${name}data: ${data}\n\n`;
  });
  return Buffer.from(texts.join(''));
}

/** What a client receives for a stream that arrives in the given pieces and ends. */
export function streamed(request: TranslatedRequest, pieces: readonly Buffer[]): string {
  const events = request.events(moment);
  const told: Buffer[] = [];
  const gate = sseFraming.openGate(() => {}, {
    filter: (event) => {
      const read = sseFraming.readEvent(event);
      if (read) told.push(events.push(read));
      return null;
    },
  });
  for (const piece of pieces) gate.push(piece);
  told.push(events.end());
  return Buffer.concat(told).toString();
}

/** The data of all events, parsed if it is JSON. */
export function dataOf(stream: string): unknown[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => {
      const data = line.slice('data: '.length);
      return data === '[DONE]' ? data : JSON.parse(data);
    });
}

/** The same bytes in two pieces, for every place to cut them. */
export function everySplit(bytes: Buffer): [Buffer, Buffer][] {
  return Array.from({ length: bytes.length - 1 }, (_, at) => [bytes.subarray(0, at + 1), bytes.subarray(at + 1)]);
}
