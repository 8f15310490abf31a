/**
 * Remembers which provider and credential own a video or a stored response, so that later calls reach the same account,
 * even after a restart or a rotated credential (same id, new secret). A job is visible only to the group that created
 * it, and is forgotten after a long time without use.
 */

import type { Reserved } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';

/** The result of a look-up. Methods throw a GatewayError `storage_unavailable` if the store cannot be read now. */
export interface KnownJobs {
  find(kind: JobKind, id: string, groupId: string): Job | undefined;
  /** The group's own job, of any kind; `foreign` if only other groups have a job with this id. */
  findAny(id: string, groupId: string): Job | 'foreign' | undefined;
}

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
