/** Message format of a WebSocket session, as far as limits and usage depend on it. */
import type { ErrorBody } from '../../contract/errors.ts';
import type { Usage } from '../../contract/ledger.ts';

export type ServerEvent =
  | { kind: 'response-created'; id: string }
  | { kind: 'response-done'; id: string; hasFailed: boolean; errorCode: string | null; used: Usage | null }
  | { kind: 'transcribed'; used: Usage | null }
  /** `transcribesWith`: the model that transcribes the user's speech; null if there is none. */
  | { kind: 'session'; transcribesWith: string | null };

export interface SessionFormat {
  /** The subprotocol to confirm to a client that offers it. */
  readonly protocol: string;
  /** Query parameters that name the model; the upstream is sent the first of these. */
  readonly modelParameters: readonly string[];
  /** Query parameter that names an existing call, which only one provider has. */
  readonly callParameter: string;
  /** Null for events that Sluice does not need, and for anything that is not an event. */
  readServerEvent(message: Buffer): ServerEvent | null;
  /** About how many tokens of an answer the message has; 0 for what is no part of one. */
  answeredTokens(message: Buffer): number;
  /** About how many tokens a client's message adds to the conversation. */
  addedTokens(message: Buffer): number;
  /** Returns the id of an event that requests a response (empty if it has none); null for all other messages. */
  readResponseCreate(message: Buffer): { eventId: string } | null;
  /** Renders an error event. `eventId`: its own id; `causedBy`: id of the client's event that caused it, or null. */
  writeErrorEvent(error: ErrorBody, eventId: string, causedBy: string | null): string;
}
