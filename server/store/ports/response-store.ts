/**
 * Stores the responses that Sluice produces by translation, for `previous_response_id` and `GET /v1/responses/{id}`.
 * Each group's number and bytes are limited; the oldest responses are evicted first.
 */
import type { MaybePromise } from '../../ground/promises.ts';

export interface ResponseStore {
  /** False if the response is too long, or if storage is disabled. */
  mayKeep(response: Pick<KeptResponse, 'response' | 'input'>): boolean;
  /**
   * If it returns a promise, other replicas can find the response once that has resolved, unless it could not be
   * written. Never throws or rejects.
   */
  keep(response: Omit<KeptResponse, 'createdAt'>): MaybePromise<void>;
  /** Also undefined while the store cannot be read. */
  find(id: string, groupId: string): MaybePromise<KeptResponse | undefined>;
  /** If it returns a promise, no replica finds the response once that has resolved. Never throws or rejects. */
  forget(id: string, groupId: string): MaybePromise<void>;
  /** Deletes expired responses. Also runs periodically. */
  sweep(): MaybePromise<void>;
  close(): MaybePromise<void>;
}

// A response that Sluice produced by translation, so that no provider stores it. The form of its id distinguishes it
// from a response that is stored upstream.

export interface KeptResponse {
  id: string;
  /** The only group that may use the response. */
  groupId: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The response object that the client received, as JSON. */
  response: string;
  /** The complete `input`, including the conversation that it continues, as JSON. */
  input: string;
}
