/** What is known of the messages of a session over a WebSocket: those that decide about limits and tell usage. */
import type { ErrorBody } from '../contract/errors.ts';
import type { Usage } from '../contract/ledger.ts';

/** What an event used. */
export interface EventUsage {
  usage: Usage;
  /** The same with cached sound and pictures counted as cached only, as they are billed. */
  billed: Usage;
}

export type ServerEvent =
  | { kind: 'response-created'; id: string }
  | { kind: 'response-done'; id: string; hasFailed: boolean; errorCode: string | null; used: EventUsage | null }
  | { kind: 'transcribed'; used: EventUsage | null }
  /** `transcribesWith`: the model that turns the user's speech into text; null if none does. */
  | { kind: 'session'; transcribesWith: string | null };

export interface SessionFormat {
  /** The subprotocol to answer a client that offers it with. */
  readonly protocol: string;
  /** The query's parameters that name the model; the upstream gets the first of these. */
  readonly modelParameters: readonly string[];
  /** The query's parameter that names a call that one provider has under way already. */
  readonly callParameter: string;
  /** Null for events that Sluice does not read, and for what is none. */
  readServerEvent(message: Buffer): ServerEvent | null;
  /** The id of an event that asks for a response, empty if it has none; null for all other messages. */
  readResponseCreate(message: Buffer): { eventId: string } | null;
  /** An error as an event. `eventId`: its own; `causedBy`: that of the client's event, or null. */
  writeErrorEvent(error: ErrorBody, eventId: string, causedBy: string | null): string;
}
