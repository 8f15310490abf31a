/**
 * What the main thread and one that translates tell each other. Bodies and answers are passed as bytes that change hands, because
 * copying many values from thread to thread would take as long as parsing them.
 */
import type { ResponseIdentity } from '../../apis/neutral/answers/wire-translation.ts';
import type { UpstreamWireName, WireName } from '../../apis/neutral/conversation.ts';
import type { Loss } from '../../apis/neutral/losses.ts';
import type { AnswerError } from '../../apis/neutral/neutral-answer.ts';
import type { Target } from '../../apis/neutral/requests/rendering.ts';
import type { CountingWire } from '../../apis/translation/count-translator.ts';
import type { WantedVectors } from '../../apis/translation/embeddings-translator.ts';
import type { KeptReasoning } from '../../apis/translation/kept-reasoning.ts';
import type { NamedInUrl } from '../../apis/translation/translator.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { HistoryKept } from './kept-history.ts';

/** Between which wires a request is translated, and what of it. */
export type TranslationWay =
  | { kind: 'conversation'; client: WireName; upstream: UpstreamWireName }
  | { kind: 'count'; client: WireName; upstream: CountingWire };

/** What an answer's translation needs that is not in its bytes, as `AnswerInputs`. */
export interface AnswerMoment {
  createdAt: number;
  /** Headers of the upstream's answer. */
  headers: Readonly<Record<string, string>>;
  /** For an answer to which the upstream gives no id. */
  newId: string;
  identity: ResponseIdentity | undefined;
}

export interface RenderedApart {
  body: Uint8Array;
  losses: readonly Loss[];
  /** An estimate of what the conversation has; undefined for other requests. */
  inputTokens: number | undefined;
}

/** As `WholeAnswer`. */
export type WholeApart =
  | { ok: true; body: Uint8Array; losses: readonly Loss[]; reasoning: KeptReasoning | null }
  | { ok: false; message: string; isMalformedCall: boolean };

/** What a stream has come to. */
export interface StreamState {
  isOver: boolean;
  isMalformedCall: boolean;
  /** The error that was told in place of the missing rest; null if nothing is missing. */
  failure: string | null;
  losses: readonly Loss[];
  /** The whole answer as JSON, and the reasoning to be kept: once, when the stream is over. */
  whole: string | null;
  reasoning: KeptReasoning | null;
}

export interface StreamedApart extends StreamState {
  bytes: Uint8Array;
}

/** By its name, what is asked and what is answered. Streams and rendered requests have numbers within their session. */
export interface Orders {
  /** Returns the ids of calls whose reasoning may be stored. */
  open: {
    asked: {
      way: TranslationWay;
      body: Uint8Array;
      /** Number of JSON values in it. */
      values: number;
      fromUrl: NamedInUrl | undefined;
      losses: readonly Loss[];
    };
    answered: string[];
  };
  /** Adds stored reasoning, by call. Must be the first after `open`. */
  restore: { asked: { reasoning: ReadonlyMap<string, string> }; answered: null };
  render: { asked: { target: Target }; answered: RenderedApart };
  /** Null if it is no answer of the upstream's API. */
  whole: { asked: { request: number; body: Uint8Array; moment: AnswerMoment }; answered: WholeApart | null };
  /** `keepsWhole`: the whole answer is wanted at the end. */
  stream: { asked: { request: number; moment: AnswerMoment; keepsWhole: boolean }; answered: number };
  /** The pieces of a stream of these lengths, of which the client has the translation: from where it goes on here. */
  replay: { asked: { stream: number; bytes: Uint8Array; lengths: readonly number[] }; answered: null };
  push: { asked: { stream: number; bytes: Uint8Array }; answered: StreamedApart };
  /** A whole answer in place of a stream. Null if it has no content. */
  pushWhole: { asked: { stream: number; body: Uint8Array; moment: AnswerMoment }; answered: StreamedApart | null };
  end: { asked: { stream: number }; answered: StreamedApart };
  fail: { asked: { stream: number; error: AnswerError }; answered: StreamedApart };
  /** Of an answer with embeddings. Null if it has not those that are wanted. */
  vectors: {
    asked: { body: Uint8Array; wanted: WantedVectors };
    answered: { json: Uint8Array; promptTokens: number | null } | null;
  };
  /** A body without its reasoning. Null if it has none. */
  unsealed: {
    asked: { body: Uint8Array; wire: string; model: string };
    answered: { body: Uint8Array; losses: readonly Loss[] } | null;
  };
  /** A body with the conversation that it continues. Null if it is no object. */
  history: { asked: { body: Uint8Array; kept: HistoryKept }; answered: { body: Uint8Array } | null };
  /** The responses in whose place a body only names items. */
  referred: { asked: { body: Uint8Array }; answered: readonly string[] };
  /** A body with these items of stored responses. */
  items: { asked: { body: Uint8Array; kept: readonly HistoryKept[] }; answered: { body: Uint8Array } };
  /** Of a session. */
  close: { asked: null; answered: null };
}

export type OrderName = keyof Orders;

/** `number`: that of the answer. */
export type Order = {
  [Name in OrderName]: { name: Name; session: number; number: number; asked: Orders[Name]['asked'] };
}[OrderName];

/** Why something could not be done: a GatewayError, or any other exception, which has no code. */
export interface Refusal {
  code: ErrorCode | null;
  message: string;
  param: string | null;
  retryAfterSeconds: number | null;
}

export type OrderResult = { number: number; answered: unknown } | { number: number; refusal: Refusal };

/** Bytes that another thread can take over: those of a pool are copied. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
