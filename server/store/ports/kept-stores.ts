/** Ports to what is kept beside the ledger: jobs, responses, reasoning and pinned requests. */

import type { CapturedExchange } from '../../contract/capture.ts';
import type { Reserved } from '../../contract/ledger.ts';
import type { PinnedRequest } from '../../contract/pins.ts';
import type { CapturedBody, PinChange } from '../../contract/request-views.ts';
import type { MaybePromise } from '../../ground/promises.ts';

/** The result of a look-up. Methods throw a GatewayError `storage_unavailable` if the store cannot be read now. */
export interface KnownJobs {
  find(kind: JobKind, id: string, groupId: string): Job | undefined;
  /** The group's own job, of any kind; `foreign` if only other groups have a job with this id. */
  findAny(id: string, groupId: string): Job | 'foreign' | undefined;
}

/**
 * Remembers which provider and credential own a video or a stored response, so that later calls reach the same account,
 * even after a restart or a rotated credential (same id, new secret). A job is visible only to the group that created
 * it, and is forgotten after a long time without use.
 */
export interface JobStore {
  /**
   * Stores a job in memory, and durably at once if `durable`, otherwise within a fraction of a second. If it returns a
   * promise, other replicas can find the job once that has resolved, even if the job could not be written by then.
   * Never throws or rejects.
   */
  remember(job: Job, options?: { durable?: boolean }): MaybePromise<void>;
  /** The same, unless an object with this id already has an owner. */
  rememberNew(job: Job): MaybePromise<void>;
  /**
   * Finds the group's jobs among these ids. The result may only be queried for these ids. Rejects with a GatewayError
   * `storage_unavailable` if the store must be read and cannot be. `withSizes`: reads again what has no size in memory, since
   * another replica may know it by now.
   */
  lookUp(ids: readonly string[], groupId: string, options?: { withSizes?: boolean }): MaybePromise<KnownJobs>;
  forget(kind: JobKind, id: string, groupId: string): void;
  /** Jobs whose usage is not known yet. Throws or rejects while the store cannot be read. */
  owing(): MaybePromise<Job[]>;
  /**
   * Marks a found or owing job as one whose usage is known, and returns its previous state; undefined if it was already
   * marked. The ledger stores this together with the usage. Never throws.
   */
  settle(job: Pick<Job, 'kind' | 'id' | 'groupId'>): Job | undefined;
  /** Notes the `inputTokens` of a job that was remembered or found a moment ago. Never throws. */
  noteSize(job: Pick<Job, 'kind' | 'id' | 'groupId'>, inputTokens: number): void;
  flush(): MaybePromise<void>;
  /** Deletes expired jobs and resolves with their number. Also runs periodically. */
  sweep(): Promise<number>;
  close(): MaybePromise<void>;
}

/** For requests that name no job. */
export const noJobs: KnownJobs = { find: () => undefined, findAny: () => undefined };

/**
 * `object`: any other object stored by a provider, of which Sluice knows only the id, such as a file or a batch.
 * `character`: one of OpenAI's videos API, remembered by an earlier version; new ones are objects.
 */
export const jobKinds = ['video', 'character', 'response', 'object'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface Job {
  kind: JobKind;
  /** The id that the client uses. */
  id: string;
  /** The provider's id, if it differs. */
  upstreamId?: string;
  groupId: string;
  providerId: string;
  /** Null for a provider without credentials. */
  credentialId: string | null;
  model: string | null;
  keyId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  /** The most input that it adds to a request that refers to it; absent if that is unknown. */
  inputTokens?: number;
  /** The id of the session that made it, which is billed for it; absent if there is none. */
  session?: string;
  /** The reservation until its usage is known. */
  owed?: Reserved;
}

/**
 * Stores the responses that Sluice produces by translation, for `previous_response_id` and `GET /v1/responses/{id}`.
 * Each group's number and bytes are limited; the oldest responses are evicted first.
 */
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

/**
 * A response that Sluice produced by translation, so that no provider stores it. The form of its id distinguishes it
 * from a response that is stored upstream.
 */
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

/** Maximum length in characters. Longer reasoning of one answer is rare and not stored. */
export const maxEntryLength = 512 * 1024;

/**
 * Stores reasoning that clients do not bring back, by client key and tool call id, for one day. Number and size are limited;
 * the oldest entries are evicted.
 */
export interface ReasoningStore {
  /** Stores `reasoning`, which is opaque to the store. Never throws. */
  keep(keyId: string, callId: string, reasoning: string): void;
  /**
   * Reads entries into memory for the next `find`; null if they are already there. Never rejects. Absent if `find`
   * needs no preparation.
   */
  prefetch?(keyId: string, callIds: readonly string[]): Promise<void> | null;
  /** Returns the stored reasoning by call id. Never throws; entries that cannot be read are omitted. */
  find(keyId: string, callIds: readonly string[]): ReadonlyMap<string, string>;
  flush(): MaybePromise<void>;
  close(): MaybePromise<void>;
}

export type PinnedCapture = CapturedExchange<CapturedBody>;

/**
 * Pinned requests. Each is a copy of the request and its capture, so that nothing that deletes old rows has to know which are
 * pinned. They are few (`mostPins`), so they are listed whole. Rejects, or throws, with GatewayError `storage_unavailable` while
 * the database cannot be used.
 */
export interface PinStore {
  /** Calls the listener for each request that is pinned or unpinned, or gets another note, here or at another replica. */
  onChange(listener: (change: PinChange) => void): void;
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
