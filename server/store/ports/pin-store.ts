/**
 * Pinned requests. Each is a copy of the request and its capture, so that nothing that deletes old rows has to know which are
 * pinned. They are few (`mostPins`), so they are listed whole. Rejects, or throws, with GatewayError `storage_unavailable` while
 * the database cannot be used.
 */
import type { CapturedExchange } from '../../contract/capture.ts';
import type { PinnedRequest } from '../../contract/pins.ts';
import type { CapturedBody } from '../../contract/request-views.ts';
import type { MaybePromise } from '../../ground/promises.ts';

export type PinnedCapture = CapturedExchange<CapturedBody>;

export interface PinStore {
  /** Newest request first. */
  list(): MaybePromise<PinnedRequest[]>;
  find(id: string): MaybePromise<PinnedRequest | null>;
  /** Null if nothing of the request was captured. */
  readCapture(id: string): MaybePromise<PinnedCapture | null>;
  /** False, and nothing changes, if it is not pinned and `most` others are. */
  put(pin: PinnedRequest, capture: PinnedCapture | null, most: number): MaybePromise<boolean>;
  /** False if it is not pinned. */
  note(id: string, note: string | null): MaybePromise<boolean>;
  remove(id: string): MaybePromise<boolean>;
}
