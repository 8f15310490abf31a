import type { Reserved } from '../contract/ledger.ts';

/** `character`: a character of OpenAI's videos API, created from a video. */
export type JobKind = 'video' | 'character' | 'response';

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
  /** The reservation until its usage is known. */
  owed?: Reserved;
}

export interface JobPage {
  limit: number;
  after?: string;
  order: 'asc' | 'desc';
}
