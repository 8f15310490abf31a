/** The main thread's side of a request that is translated in another thread, with its answers. */
import { joinBytes } from '../../apis/json/json-peek.ts';
import type { Loss } from '../../apis/neutral/losses.ts';
import type { AnswerError } from '../../apis/neutral/neutral-answer.ts';
import type { Target } from '../../apis/neutral/requests/rendering.ts';
import type { RenderedVectors, WantedVectors } from '../../apis/translation/embeddings-translator.ts';
import type { Unsealed } from '../../apis/translation/returned-seals.ts';
import type { NamedInUrl } from '../../apis/translation/translator.ts';
import type { ClientReasoning } from './client-reasoning.ts';
import type { HistoryKept, ItemReader } from './kept-history.ts';
import {
  type AnswerMoment,
  asBuffer,
  type Orders,
  ownBytes,
  type RenderedApart,
  type StreamedApart,
  type StreamState,
  type TranslationWay,
  type WholeApart,
} from './thread-orders.ts';
import type { ThreadSession, TranslationThreads } from './translation-threads.ts';

/** Translating more than this takes more than 25 ms. */
const mostBytes = 1024 * 1024;
const mostValues = 20_000;

export function isHeavyRequest({ size, values = 0 }: { size: number; values?: number }): boolean {
  return size > mostBytes || values > mostValues;
}

interface Asked {
  way: TranslationWay;
  body: Buffer;
  values: number;
  fromUrl: NamedInUrl | undefined;
  /** Those of the request's headers. */
  losses: readonly Loss[];
  reasoning: ClientReasoning;
}

export class RequestApart {
  readonly #session: ThreadSession;
  readonly #asked: Asked;
  #opening: Promise<void> | undefined;
  #requests = 0;

  constructor(threads: TranslationThreads, asked: Asked) {
    this.#session = threads.open();
    this.#asked = asked;
  }

  /** Rejects with a GatewayError if the request cannot be translated. */
  async forTarget(target: Target): Promise<TranslatedApart> {
    this.#opening ??= this.#open();
    await this.#opening;
    const number = this.#requests++;
    return new TranslatedApart(this.#session, number, await this.#session.ask('render', { target }));
  }

  /** To be called once nothing more is translated. */
  close(): void {
    this.#session.close();
  }

  async #open(): Promise<void> {
    const { reasoning, body: client, ...asked } = this.#asked;
    const body = ownBytes(await joinBytes([client]));
    const calls = await this.#session.ask('open', { ...asked, body }, body);
    const stored = calls.length === 0 ? new Map<string, string>() : reasoning.stored(calls);
    if (stored.size > 0) await this.#session.ask('restore', { reasoning: stored });
  }
}

/** A heavy body without its reasoning; as `withoutReasoning`, and rejects with a GatewayError if there is no room for it. */
export async function unsealedApart(
  threads: TranslationThreads,
  body: Buffer,
  asked: { wire: string; model: string },
): Promise<Unsealed | null> {
  const unsealed = await apart(threads, 'unsealed', { ...asked, body });
  return unsealed && { losses: [...unsealed.losses], body: asBuffer(unsealed.body) };
}

/** As `withHistory`. */
export async function historyApart(
  threads: TranslationThreads,
  body: Buffer,
  kept: HistoryKept,
): Promise<Buffer | null> {
  const whole = await apart(threads, 'history', { body, kept });
  return whole && asBuffer(whole.body);
}

/** What completes a body with the items that it names. */
export function itemsApart(threads: TranslationThreads): ItemReader {
  return {
    referred: (body) => apart(threads, 'referred', { body }),
    completed: async (body, kept) => asBuffer((await apart(threads, 'items', { body, kept })).body),
  };
}

/** What needs nothing of an earlier order. */
async function apart<Name extends 'unsealed' | 'history' | 'referred' | 'items'>(
  threads: TranslationThreads,
  name: Name,
  asked: Orders[Name]['asked'],
): Promise<Orders[Name]['answered']> {
  const session = threads.open();
  try {
    const body = ownBytes(await joinBytes([asBuffer(asked.body)]));
    return await session.ask(name, { ...asked, body }, body);
  } finally {
    session.close();
  }
}

/** The vectors of an answer with many of them. Rejects with a GatewayError if there is no room for them. */
export async function vectorsApart(
  threads: TranslationThreads,
  answer: Buffer,
  wanted: WantedVectors,
): Promise<RenderedVectors | null> {
  const session = threads.open();
  try {
    const body = ownBytes(await joinBytes([answer]));
    const vectors = await session.ask('vectors', { body, wanted }, body);
    return vectors && { ...vectors, json: asBuffer(vectors.json) };
  } finally {
    session.close();
  }
}

/** One request for an upstream, as `TranslatedRequest`. */
export class TranslatedApart {
  readonly body: Buffer;
  readonly losses: readonly Loss[];
  readonly inputTokens: number | undefined;
  readonly #session: ThreadSession;
  readonly #number: number;

  /** @param number that of the request within its session */
  constructor(session: ThreadSession, number: number, { body, losses, inputTokens }: RenderedApart) {
    this.#session = session;
    this.#number = number;
    this.body = asBuffer(body);
    this.losses = losses;
    this.inputTokens = inputTokens;
  }

  async whole(bytes: Buffer, moment: AnswerMoment): Promise<WholeApart | null> {
    const body = ownBytes(await joinBytes([bytes]));
    return this.#session.ask('whole', { request: this.#number, body, moment }, body);
  }

  stream(moment: () => AnswerMoment, keepsWhole: boolean): StreamApart {
    return new StreamApart(this.#session, { request: this.#number, moment, keepsWhole });
  }
}

interface Begun {
  request: number;
  /** Known once the upstream's headers are. */
  moment(): AnswerMoment;
  keepsWhole: boolean;
}

/** One stream, as `TranslatedStream`. */
export class StreamApart {
  readonly #session: ThreadSession;
  readonly #begun: Begun;
  #number: Promise<number> | undefined;
  /** What it has come to, as far as is known here. */
  state: StreamState = nothingYet;

  constructor(session: ThreadSession, begun: Begun) {
    this.#session = session;
    this.#begun = begun;
  }

  /** Goes on after these pieces, of which the client has the translation. To be called first. */
  async goOn(pieces: readonly Buffer[]): Promise<void> {
    const stream = await this.#open();
    const bytes = ownBytes(await joinBytes(pieces));
    await this.#session.ask('replay', { stream, bytes, lengths: pieces.map(({ length }) => length) }, bytes);
  }

  async push(chunk: Buffer): Promise<Buffer> {
    const stream = await this.#open();
    const bytes = ownBytes(await joinBytes([chunk]));
    return this.#take(await this.#session.ask('push', { stream, bytes }, bytes));
  }

  /** Null if the whole answer has no content. */
  async pushWhole(answer: Buffer): Promise<Buffer | null> {
    const stream = await this.#open();
    const body = ownBytes(await joinBytes([answer]));
    const pushed = await this.#session.ask('pushWhole', { stream, body, moment: this.#begun.moment() }, body);
    return pushed && this.#take(pushed);
  }

  async end(): Promise<Buffer> {
    return this.#take(await this.#session.ask('end', { stream: await this.#open() }));
  }

  async fail(error: AnswerError): Promise<Buffer> {
    return this.#take(await this.#session.ask('fail', { stream: await this.#open(), error }));
  }

  #open(): Promise<number> {
    const { moment, ...begun } = this.#begun;
    this.#number ??= this.#session.ask('stream', { ...begun, moment: moment() });
    return this.#number;
  }

  #take({ bytes, ...state }: StreamedApart): Buffer {
    this.state = state;
    return asBuffer(bytes);
  }
}

const nothingYet: StreamState = {
  isOver: false,
  isMalformedCall: false,
  failure: null,
  losses: [],
  whole: null,
  reasoning: null,
};

/** What of an answer's headers the translation may need. */
export function momentOf(
  headers: Readonly<Record<string, unknown>>,
  known: Omit<AnswerMoment, 'headers'>,
): AnswerMoment {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { ...known, headers: Object.fromEntries(texts) };
}
