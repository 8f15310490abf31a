/** Reasoning of earlier answers: stored, and restored where the client does not bring it back. */

import type { EventGate, Framing } from '../../apis/core/stream-format.ts';
import { eventsOfWhole } from '../../apis/neutral/answers/answer-fold.ts';
import type { UpstreamTranslation } from '../../apis/neutral/answers/wire-translation.ts';
import type { Conversation, Origin } from '../../apis/neutral/conversation.ts';
import { parseLosslessJson } from '../../apis/neutral/json-text.ts';
import type { AnswerEvent } from '../../apis/neutral/neutral-answer.ts';
import { bindingOrigin } from '../../apis/neutral/requests/carried-reasoning.ts';
import {
  callsWithoutReasoning,
  type KeptReasoning,
  type KeptSeal,
  plainThoughts,
  ReasoningCollector,
  withKeptReasoning,
} from '../../apis/translation/kept-reasoning.ts';
import { isObject } from '../../contract/is-object.ts';
import type { ReasoningStore } from '../../store/ports/kept-stores.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { endsInBrace, isSuccess, type UpstreamResponseObserver } from '../record/response-taps.ts';

/** Restores stored reasoning that the client does not bring back, and stores the reasoning of new answers. */
export class ClientReasoning {
  readonly #store: ReasoningStore;
  readonly #keyId: string;

  /** Reasoning is stored per key, so that no client receives another key's. */
  constructor(store: ReasoningStore, keyId: string) {
    this.#store = store;
    this.#keyId = keyId;
  }

  restored(conversation: Conversation): Conversation {
    const calls = callsWithoutReasoning(conversation);
    return calls.length === 0 ? conversation : withStoredReasoning(conversation, this.stored(calls));
  }

  /** What is stored of these calls, by call, as `withStoredReasoning` reads it. */
  stored(calls: readonly string[]): ReadonlyMap<string, string> {
    return this.#store.find(this.#keyId, calls);
  }

  /** Where the newest reasoning was made that is stored for the calls of these results, newest first. */
  originOf(resultIds: readonly string[]): Origin | null {
    const textsByCall = resultIds.length === 0 ? null : this.#store.find(this.#keyId, resultIds);
    const newest = resultIds.map((callId) => textsByCall?.get(callId)).find((text) => text !== undefined);
    return newest === undefined ? null : bindingOrigin(read(newest)?.seals.at(-1)?.seal);
  }

  /** The reasoning stored for `tool_calls` of a chat; empty if there is none. */
  textOf(toolCalls: unknown): string {
    const calls = Array.isArray(toolCalls) ? toolCalls.flatMap(calledIn) : [];
    const [first] = calls;
    const stored = first && this.#store.find(this.#keyId, [first.id]).get(first.id);
    const kept = stored === undefined ? null : read(stored);
    return kept ? plainThoughts(kept, calls) : '';
  }

  keep({ callId, ...reasoning }: KeptReasoning): void {
    this.#store.keep(this.#keyId, callId, JSON.stringify(reasoning));
  }
}

function calledIn(call: unknown): { id: string; name: string; arguments: string }[] {
  if (!isObject(call) || !isObject(call.function)) return [];
  const { name, arguments: given } = call.function;
  return typeof call.id === 'string' && typeof name === 'string' && typeof given === 'string'
    ? [{ id: call.id, name, arguments: given }]
    : [];
}

/** The conversation with what is stored, by call; entries that cannot be read are left out. */
export function withStoredReasoning(conversation: Conversation, stored: ReadonlyMap<string, string>): Conversation {
  const entries = [...stored].flatMap(([callId, text]) => {
    const reasoning = read(text);
    return reasoning ? [[callId, reasoning] as const] : [];
  });
  return withKeptReasoning(conversation, new Map(entries));
}

/** Null if the entry is not in this version's format. */
function read(text: string): Omit<KeptReasoning, 'callId'> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isKept(value) ? value : null;
  } catch {
    return null;
  }
}

function isKept(value: unknown): value is Omit<KeptReasoning, 'callId'> {
  if (!isObject(value) || typeof value.digest !== 'string') return false;
  return Array.isArray(value.seals) && value.seals.every(isKeptSeal);
}

function isKeptSeal(value: unknown): value is KeptSeal {
  if (!isObject(value) || !isObject(value.seal) || !isObject(value.seal.place)) return false;
  const { calls, text } = value.seal.place;
  return typeof calls === 'number' && typeof text === 'number';
}

/** Of longer answers nothing is stored. In bytes. */
const maxStreamBytes = 4 * 1024 * 1024;
const maxWholeBytes = 1024 * 1024;

/** A whole answer may come in pieces that end in a brace, of which only the last one completes it. */
const maxParses = 8;

/**
 * Stores the reasoning of answers that pass to the client unchanged, from services that want it back with its calls.
 */
export class ReasoningObserver implements UpstreamResponseObserver {
  readonly #reasoning: ClientReasoning;
  readonly #upstream: UpstreamTranslation;
  readonly #framing: Framing;
  readonly #collector = new ReasoningCollector();
  #isWatching = false;
  /** Null for a whole answer. */
  #gate: EventGate | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #parses = 0;

  constructor(reasoning: ClientReasoning, upstream: UpstreamTranslation, framing: Framing) {
    this.#reasoning = reasoning;
    this.#upstream = upstream;
    this.#framing = framing;
  }

  begin(status: number, contentType: string, headers: ResponseHeaders): void {
    this.#isWatching = isSuccess(status) && headers['content-encoding'] === undefined;
    if (this.#isWatching && this.#framing.isStream(contentType)) this.#gate = this.#openGate();
  }

  take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > (this.#gate ? maxStreamBytes : maxWholeBytes)) this.#stop();
    if (!this.#isWatching) return;
    if (this.#gate) this.#gate.push(chunk);
    else this.#takeWhole(chunk);
  }

  #openGate(): EventGate {
    const parser = this.#upstream.eventParser(0);
    const filter = (bytes: Buffer) => {
      const event = this.#framing.isKeepAlive(bytes) ? null : this.#framing.readEvent(bytes);
      if (event && this.#isWatching) this.#collect(parser.push(event));
      return null;
    };
    return this.#framing.openGate(() => {}, { filter, maxHeldBytes: maxStreamBytes });
  }

  #takeWhole(chunk: Buffer): void {
    // The caller may reuse the buffer.
    this.#chunks.push(Buffer.from(chunk));
    if (!endsInBrace(chunk)) return;
    const answer = parseLosslessJson(Buffer.concat(this.#chunks).toString());
    if (answer !== undefined) this.#collect(eventsOfWhole(this.#upstream, answer, 0) ?? []);
    else if (++this.#parses === maxParses) this.#stop();
  }

  /** Stores what there is as soon as the answer has ended, so that the client can go on at once. */
  #collect(events: readonly AnswerEvent[]): void {
    for (const event of events) this.#collector.take(event);
    if (!events.some(({ type }) => type === 'stop')) return;
    const { kept } = this.#collector;
    if (kept) this.#reasoning.keep(kept);
    this.#stop();
  }

  #stop(): void {
    this.#isWatching = false;
    this.#chunks = [];
  }
}
