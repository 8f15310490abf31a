import type { Reserved } from '../../contract/ledger.ts';

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
