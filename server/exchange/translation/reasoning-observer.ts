/** Stores the reasoning of answers that pass to the client unchanged, from services that want it back with its calls. */
import type { EventGate, Framing } from '../../apis/core/framing.ts';
import { eventsOfWhole } from '../../apis/neutral/answers/answer-fold.ts';
import type { UpstreamTranslation } from '../../apis/neutral/answers/wire-translation.ts';
import { parseLosslessJson } from '../../apis/neutral/json-text.ts';
import type { AnswerEvent } from '../../apis/neutral/neutral-answer.ts';
import { ReasoningCollector } from '../../apis/translation/kept-reasoning.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { endsInBrace, isSuccess, type UpstreamResponseObserver } from '../record/response-taps.ts';
import type { ClientReasoning } from './client-reasoning.ts';

/** Of longer answers nothing is stored. In bytes. */
const maxStreamBytes = 4 * 1024 * 1024;
const maxWholeBytes = 1024 * 1024;

/** A whole answer may come in pieces that end in a brace, of which only the last one completes it. */
const maxParses = 8;

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
