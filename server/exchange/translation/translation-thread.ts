/**
 * The thread that translates what is too large for the one that serves all clients. It knows requests and answers
 * alone: no configuration, no store, no socket.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { sseFraming } from '../../apis/core/sse-framing.ts';
import { countValues } from '../../apis/json/json-nodes.ts';
import type { Conversation } from '../../apis/neutral/conversation.ts';
import { writeJson } from '../../apis/neutral/json-text.ts';
import type { Loss } from '../../apis/neutral/losses.ts';
import type { Target } from '../../apis/neutral/requests/rendering.ts';
import { CountTranslator, type TranslatedCount } from '../../apis/translation/count-translator.ts';
import { renderVectors } from '../../apis/translation/embeddings-translator.ts';
import { callsWithoutReasoning } from '../../apis/translation/kept-reasoning.ts';
import { withoutReasoning } from '../../apis/translation/translation-registry.ts';
import { type AnswerInputs, createTranslatorBetween, TranslatedRequest } from '../../apis/translation/translator.ts';
import { GatewayError } from '../../contract/errors.ts';
import { HeapShare } from '../request/outgoing-call.ts';
import { withStoredReasoning } from './client-reasoning.ts';
import { responsesReferredIn, withHistory, withItems } from './kept-history.ts';
import {
  type AnswerMoment,
  asBuffer,
  type Order,
  type OrderResult,
  type Orders,
  ownBytes,
  type Refusal,
  type StreamedApart,
  type WholeApart,
} from './thread-orders.ts';
import { TranslatedStream, tooLarge } from './translated-stream.ts';

const heap = new HeapShare();
const sessions = new Map<number, TranslationSession>();

function sessionOf(number: number): TranslationSession {
  let session = sessions.get(number);
  if (!session) {
    session = new TranslationSession(heap);
    sessions.set(number, session);
  }
  return session;
}

function carryOut(order: Order): unknown {
  const session = sessionOf(order.session);
  switch (order.name) {
    case 'open':
      return session.open(order.asked);
    case 'restore':
      return session.restore(order.asked);
    case 'render':
      return session.render(order.asked);
    case 'whole':
      return session.whole(order.asked);
    case 'stream':
      return session.stream(order.asked);
    case 'replay':
      return session.replay(order.asked);
    case 'push':
      return session.push(order.asked);
    case 'pushWhole':
      return session.pushWhole(order.asked);
    case 'end':
      return session.end(order.asked);
    case 'fail':
      return session.fail(order.asked);
    case 'vectors':
      return session.vectors(order.asked);
    case 'unsealed':
      return session.unsealed(order.asked);
    case 'history':
      return session.history(order.asked);
    case 'referred':
      return session.referred(order.asked);
    case 'items':
      return session.items(order.asked);
    case 'close':
      sessions.delete(order.session);
      return session.close();
  }
}

function refusalOf(thrown: unknown): Refusal {
  if (thrown instanceof GatewayError) {
    const { code, message, param, retryAfterSeconds } = thrown;
    return { code, message, param, retryAfterSeconds };
  }
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { code: null, message, param: null, retryAfterSeconds: null };
}

/** The bytes of a result, which change hands. */
function bytesIn(answered: unknown): ArrayBuffer[] {
  if (typeof answered !== 'object' || answered === null) return [];
  return Object.values(answered).flatMap((member) =>
    member instanceof Uint8Array && member.buffer instanceof ArrayBuffer && member.length > 0 ? [member.buffer] : [],
  );
}

function serve(port: MessagePort): void {
  port.on('message', (order: Order) => {
    const { number } = order;
    try {
      const answered = carryOut(order);
      port.postMessage({ number, answered } satisfies OrderResult, bytesIn(answered));
    } catch (thrown) {
      port.postMessage({ number, refusal: refusalOf(thrown) } satisfies OrderResult);
    }
  });
}

if (parentPort) serve(parentPort);

type Rendered = TranslatedRequest | TranslatedCount;

interface OpenStream {
  stream: TranslatedStream;
  request: TranslatedRequest;
  keepsWhole: boolean;
  /** The whole answer and the reasoning have been passed on. */
  isKept: boolean;
}

/** More losses are neither told nor counted: each takes time at the thread that serves all clients. */
const mostLosses = 5_000;

/**
 * One request that is translated in a thread of its own kind, with its answers. What it holds stays in that thread.
 */
class TranslationSession {
  readonly #heap: HeapShare;
  #heldBytes = 0;
  #render: (target: Target) => Rendered = notOpen;
  #restore: (reasoning: ReadonlyMap<string, string>) => void = () => {};
  readonly #requests: Rendered[] = [];
  readonly #streams: OpenStream[] = [];

  /** @param heap that of the thread */
  constructor(heap: HeapShare) {
    this.#heap = heap;
  }

  open({ way, body, values, fromUrl, losses }: Orders['open']['asked']): string[] {
    const bytes = asBuffer(body);
    this.#heldBytes = this.#heap.hold({ bytes: bytes.length, values }, this.#heldBytes);
    if (way.kind === 'count') {
      this.#render = new CountTranslator(way.client, way.upstream, () => ({})).open(bytes, fromUrl);
      return [];
    }
    const translator = createTranslatorBetween(way.client, way.upstream);
    const asked = translator.read(bytes, fromUrl);
    const open = (conversation: Conversation) => {
      const parsed = { conversation, losses: [...losses, ...asked.losses] };
      this.#render = (target) => translator.request(parsed, target);
    };
    open(asked.conversation);
    this.#restore = (reasoning) => open(withStoredReasoning(asked.conversation, reasoning));
    return callsWithoutReasoning(asked.conversation);
  }

  restore({ reasoning }: Orders['restore']['asked']): null {
    this.#restore(reasoning);
    return null;
  }

  render({ target }: Orders['render']['asked']): Orders['render']['answered'] {
    const request = this.#render(target);
    this.#requests.push(request);
    const inputTokens = request instanceof TranslatedRequest ? request.inputTokens : undefined;
    return { body: ownBytes(request.body), losses: mostTelling(request.losses), inputTokens };
  }

  whole({ request: number, body, moment }: Orders['whole']['asked']): WholeApart | null {
    const request = this.#requests[number];
    const bytes = asBuffer(body);
    if (!this.#fits(bytes)) return { ok: false, message: tooLarge.message, isMalformedCall: false };
    const whole = request?.whole(bytes, inputsOf(moment)) ?? null;
    if (whole === null) return null;
    if (!whole.ok) return { ok: false, message: whole.error.message, isMalformedCall: whole.isMalformedCall ?? false };
    return { ...whole, body: ownBytes(whole.body), losses: mostTelling(whole.losses) };
  }

  stream({ request: number, moment, keepsWhole }: Orders['stream']['asked']): number {
    const request = this.#requests[number];
    if (!(request instanceof TranslatedRequest)) throw new Error('unreachable: only conversations are streamed');
    const fits = (bytes: Buffer) => this.#fits(bytes);
    // All wires into which conversations are translated have server-sent events, or are unpacked into them.
    const stream = new TranslatedStream({ request, inputs: inputsOf(moment), framing: sseFraming, fits });
    return this.#streams.push({ stream, request, keepsWhole, isKept: false }) - 1;
  }

  /** @throws GatewayError `overloaded` if there is no room here for what was translated elsewhere */
  replay({ stream: number, bytes, lengths }: Orders['replay']['asked']): null {
    const { stream } = this.#open(number);
    const all = asBuffer(bytes);
    let from = 0;
    for (const length of lengths) {
      stream.push(all.subarray(from, from + length));
      from += length;
    }
    if (stream.events.isOver) throw new GatewayError('overloaded', tooLarge.message);
    return null;
  }

  push({ stream, bytes }: Orders['push']['asked']): StreamedApart {
    const open = this.#open(stream);
    return stateAfter(open, open.stream.push(asBuffer(bytes)));
  }

  pushWhole({ stream, body, moment }: Orders['pushWhole']['asked']): StreamedApart | null {
    const open = this.#open(stream);
    const { events } = open.stream;
    const bytes = asBuffer(body);
    const translated = this.#fits(bytes)
      ? open.request.wholeAsEvents(bytes, inputsOf(moment), events)
      : events.fail(tooLarge);
    return translated && stateAfter(open, translated);
  }

  end({ stream }: Orders['end']['asked']): StreamedApart {
    const open = this.#open(stream);
    return stateAfter(open, open.stream.end());
  }

  fail({ stream, error }: Orders['fail']['asked']): StreamedApart {
    const open = this.#open(stream);
    const { events } = open.stream;
    return stateAfter(open, events.isOver ? Buffer.alloc(0) : events.fail(error));
  }

  /** @throws GatewayError `overloaded` */
  vectors({ body, wanted }: Orders['vectors']['asked']): Orders['vectors']['answered'] {
    const vectors = renderVectors(this.#fitting(body), wanted);
    return vectors && { ...vectors, json: ownBytes(vectors.json) };
  }

  /** @throws GatewayError `overloaded`, as the following */
  unsealed({ body, wire, model }: Orders['unsealed']['asked']): Orders['unsealed']['answered'] {
    const unsealed = withoutReasoning(wire, this.#fitting(body), model);
    return unsealed && { body: ownBytes(unsealed.body), losses: mostTelling(unsealed.losses) };
  }

  history({ body, kept }: Orders['history']['asked']): Orders['history']['answered'] {
    const whole = withHistory(this.#fitting(body), kept);
    return whole && { body: ownBytes(whole) };
  }

  referred({ body }: Orders['referred']['asked']): readonly string[] {
    return [...responsesReferredIn(this.#fitting(body))];
  }

  items({ body, kept }: Orders['items']['asked']): Orders['items']['answered'] {
    return { body: ownBytes(withItems(this.#fitting(body), kept)) };
  }

  close(): null {
    this.#heap.release(this.#heldBytes);
    this.#heldBytes = 0;
    return null;
  }

  #fitting(body: Uint8Array): Buffer {
    const bytes = asBuffer(body);
    if (!this.#fits(bytes)) throw new GatewayError('overloaded', tooLarge.message);
    return bytes;
  }

  #fits(bytes: Buffer): boolean {
    return this.#heap.hasRoomFor({ bytes: bytes.length, values: countValues(bytes) });
  }

  #open(number: number): OpenStream {
    const open = this.#streams[number];
    if (!open) throw new Error('unreachable: a stream is begun before it is pushed to');
    return open;
  }
}

function notOpen(): never {
  throw new Error('unreachable: a session is opened first');
}

function inputsOf({ createdAt, headers, newId, identity }: AnswerMoment): AnswerInputs {
  const answerId = (header: string | undefined) => (header === undefined ? '' : headers[header]) || newId;
  return { createdAt, answerId, identity };
}

function stateAfter(open: OpenStream, bytes: Buffer): StreamedApart {
  const { events } = open.stream;
  const isFirst = events.isOver && !open.isKept;
  open.isKept ||= events.isOver;
  return {
    bytes: ownBytes(bytes),
    isOver: events.isOver,
    isMalformedCall: events.isMalformedCall,
    failure: events.failure?.message ?? null,
    losses: mostTelling(events.losses),
    whole: isFirst && open.keepsWhole && events.whole ? writeJson(events.whole) : null,
    reasoning: isFirst ? events.reasoning : null,
  };
}

/** Those first of which a client that refuses losses is told. */
function mostTelling(losses: readonly Loss[]): readonly Loss[] {
  if (losses.length <= mostLosses) return losses;
  const isCarried = ({ fate }: Loss) => fate === 'carried';
  return [...losses.filter((loss) => !isCarried(loss)), ...losses.filter(isCarried)].slice(0, mostLosses);
}
