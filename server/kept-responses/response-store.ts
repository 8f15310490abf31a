/**
 * Stores the responses that Sluice produces by translation, for `previous_response_id` and `GET /v1/responses/{id}`. Each
 * group's number and bytes are limited; the oldest responses are evicted first.
 */
import type { NowOrLater } from '../now-or-later.ts';
import type { KeptResponse } from './kept-response.ts';

export interface ResponseStore {
  /** False if the response is too long, or if storage is disabled. */
  mayKeep(response: Pick<KeptResponse, 'response' | 'input'>): boolean;
  /** Never throws. */
  keep(response: Omit<KeptResponse, 'createdAt'>): void;
  /** Also undefined while the store cannot be read. */
  find(id: string, groupId: string): NowOrLater<KeptResponse | undefined>;
  forget(id: string, groupId: string): void;
  /** Deletes expired responses. Also runs periodically. */
  sweep(): NowOrLater<void>;
  close(): NowOrLater<void>;
}
