/** What a request needs of a cassette: a stored answer instead of a provider's, or a recording of what is answered. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Usage } from '../contract/ledger.ts';
import type { ResponseTap } from './response-tap.ts';
import type { Pace, StoredAnswer } from './stored-answer.ts';

/** A client's request whose body has been read. */
export interface HeardRequest {
  /** Sluice's id of it. */
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
  /** What must not be stored: the client's keys and the credentials of all providers. */
  secrets: readonly string[];
  /** What Sluice sends to keep a silent stream open; null if it sends nothing. */
  keepAlive: Buffer | null;
}

/** Records the answer of one request. */
export interface Recording extends ResponseTap {
  /** `usage` is null if it is unknown. Writes in the background, and never throws. */
  end(how: 'complete' | 'cut' | 'client-left', usage: Usage | null): void;
}

export type Taken =
  | { kind: 'replayed'; answer: StoredAnswer; pace: Pace }
  /** A provider answers. */
  | { kind: 'recorded'; recording: Recording };

export interface CassetteDesk {
  /** Providers are never asked. */
  readonly replaysOnly: boolean;
  /** Rejects with a GatewayError `replay_miss` if only recordings may answer and none fits. */
  take(request: HeardRequest): Promise<Taken>;
  /** Resolves once all recordings are written. */
  close(): Promise<void>;
}
