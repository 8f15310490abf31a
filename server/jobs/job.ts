import type { Reserved } from '../contract/ledger.ts';

/**
 * `character`: who appears in videos, made from one. `object`: what else a provider keeps and Sluice knows nothing of but its
 * id, such as a file or a batch.
 */
export const jobKinds = ['video', 'character', 'response', 'object'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface Job {
  kind: JobKind;
  /** As the client knows it. */
  id: string;
  /** The provider's id of it, where that is another. */
  upstreamId?: string;
  groupId: string;
  providerId: string;
  /** Null for a provider that asks for no key. */
  credentialId: string | null;
  model: string | null;
  keyId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  /** Set while it has not told what it used; what is reserved for it until then. */
  owed?: Reserved;
}

export interface JobPage {
  limit: number;
  after?: string;
  order: 'asc' | 'desc';
}
