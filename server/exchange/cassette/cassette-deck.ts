/** The port to cassettes: a request gets a recorded answer instead of a provider's, or has its answer recorded. */
import type { IncomingHttpHeaders } from 'node:http';
import type { CassetteChoice } from '../../contract/cassette.ts';
import type { Usage } from '../../contract/ledger.ts';
import type { Pace, StoredAnswer } from '../answer/local-reply.ts';
import type { ClientResponseTap } from '../record/response-taps.ts';

/** A client's request whose body has been read. */
export interface CassetteRequest {
  /** The request id. */
  id: string;
  method: string;
  /** Path and query as the client sent them. */
  url: string;
  /** The route's path for names of files: `/v1/chat/completions`. */
  label: string;
  /** The wire's name, such as `openai-chat`. */
  wire: string;
  headers: IncomingHttpHeaders;
  /** Null if there is none. Not used after `take` has resolved. */
  body: Buffer | null;
  /** Must not be stored: the client's keys and the credentials of all providers. */
  secrets: readonly string[];
  /** What Sluice sends to keep a silent stream open; null if it sends nothing. */
  keepAlive: Buffer | null;
}

/** Records the answer of one request. */
export interface Recording extends ClientResponseTap {
  /**
   * `usage` is null if it is unknown. Returns whether there is something to record, which is written in the background. Never
   * throws.
   */
  end(ending: 'complete' | 'cut' | 'client-left', usage: Usage | null): boolean;
}

export type TakeResult =
  | { kind: 'replayed'; answer: StoredAnswer; pace: Pace }
  /** A provider answers. */
  | { kind: 'recorded'; recording: Recording };

export interface CassetteDeck {
  /** Providers are never asked. */
  readonly replaysOnly: boolean;
  /** Rejects with a GatewayError `replay_miss` if only recordings may answer and none fits. */
  take(request: CassetteRequest): Promise<TakeResult>;
  /** Resolves once all recordings are written. */
  close(): Promise<void>;
}

/** The cassettes of a gateway. */
export interface CassetteSource {
  /** Used for all requests, whatever the configuration says about their keys; null: the configuration decides. */
  readonly ofRun: CassetteDeck | null;
  /**
   * Null if the folder cannot be used in a mode that only records: then the request is served unrecorded. Otherwise
   * rejects with a GatewayError `cassette_unusable`.
   */
  open(choice: CassetteChoice): Promise<CassetteDeck | null>;
}

/** Null if requests of the key are neither recorded nor replayed; then no promise is created. */
export function findDeck(
  { ofRun, open }: CassetteSource,
  { cassette }: { cassette: CassetteChoice | null },
): CassetteDeck | Promise<CassetteDeck | null> | null {
  return ofRun ?? (cassette === null ? null : open(cassette));
}
