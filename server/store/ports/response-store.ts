/**
 * Stores the responses that Sluice produces by translation, for `previous_response_id` and `GET /v1/responses/{id}`.
 * Each group's number and bytes are limited; the oldest responses are evicted first.
 */
import type { MaybePromise } from '../../ground/promises.ts';
import type { KeptResponse } from '../rules/kept-response.ts';

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
