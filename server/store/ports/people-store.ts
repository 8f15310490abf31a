/** The port to the store of people, their sessions and tokens, and the audit list. */
import type { TokenScope } from '../../contract/people.ts';
import type { AuditEntry } from '../../contract/people-views.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { ScimStore } from './scim-store.ts';

/** A person as the identity provider last described them. */
export interface StoredPerson {
  id: string;
  issuer: string;
  subject: string;
  name: string;
  email: string | null;
  /** The groups of the claim, unchanged. */
  claimed: readonly string[];
  /** Unix milliseconds. */
  signedInAt: number;
  /** When the identity provider last told of the groups. */
  checkedAt: number;
  /** When it is to be asked again; null: at the next sign-in. */
  checkDueAt: number | null;
  /** The value of the claim `people.externalIdClaim`; null if it has not told that. */
  externalId: string | null;
}

/** A means of access: a browser's session or an API token. Only the hash of its secret is stored. */
export interface Access {
  /** `ses_` or `tok_` and 16 hexadecimal digits. */
  id: string;
  /** SHA-256 of the secret, as hexadecimal digits. */
  hash: string;
  personId: string;
  /** Null for a browser's session, which has all rights of its person. */
  scopes: readonly TokenScope[] | null;
  /** The person's name for a token; null for a session. */
  name: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  expiresAt: number;
}

export interface FoundAccess {
  access: Access;
  person: StoredPerson;
}

/** What to revoke: one session or token, all of a person's, or the browser sessions of a person or of everybody. */
export type Revocation = { id: string } | { personId: string } | { browsersOf: string } | { browsers: 'all' };

/** A key and the time in which a person owned it. */
export interface OwnedKey {
  keyId: string;
  /** Unix milliseconds. */
  sinceMs: number;
  /** Null while they own it. */
  untilMs: number | null;
}

export interface AuditQuery {
  /** Null to start at the latest entry. */
  before: number | null;
  limit: number;
  /** Only changes by this person; null: by the administrator of the machine; absent: by anyone. */
  personId?: string | null | undefined;
}

export interface AuditPage {
  /** Latest first. */
  entries: AuditEntry[];
  /** The `before` of the next page; null if there is none. */
  next: number | null;
}

/** All methods reject or throw with a GatewayError `storage_unavailable` if the store cannot be reached. */
export interface PeopleStore {
  /** Adds or replaces the person. */
  keepPerson(person: StoredPerson): MaybePromise<void>;
  /** People whose check is due, which is then due again at `nextMs`: of several replicas, one gets each. */
  claimDue(due: { nowMs: number; nextMs: number; limit: number }): MaybePromise<StoredPerson[]>;
  /** The identity provider is not asked again before the next sign-in. False if that was meanwhile. */
  endChecks(person: Pick<StoredPerson, 'id' | 'signedInAt'>): MaybePromise<boolean>;
  /** Null if there is no such person. */
  findPerson(id: string): MaybePromise<StoredPerson | null>;
  /** Sorted by name. */
  listPeople(): MaybePromise<StoredPerson[]>;
  open(access: Access): MaybePromise<void>;
  /** Never cached, so that access revoked on another replica is revoked here. */
  find(hash: string): MaybePromise<FoundAccess | null>;
  /** The ones of these ids that have not been ended. */
  findByIds(ids: readonly string[]): MaybePromise<FoundAccess[]>;
  /** Calls the listener when another replica may have revoked access; absent without other replicas. */
  onEnded?(listener: () => void): void;
  /** Tokens only, latest first, of one person or of all. */
  listTokens(personId: string | null): MaybePromise<Access[]>;
  /** Resolves with the number of ended sessions and tokens. */
  end(ended: Revocation): MaybePromise<number>;
  /** Those that are known stay as they are. */
  keepKeyOwners(owners: readonly { keyId: string; sinceMs: number; personId: string }[]): MaybePromise<void>;
  /** The keys were revoked. */
  endKeyOwners(keyIds: readonly string[], atMs: number): MaybePromise<void>;
  /** The keys that the person owns or has owned. */
  keysOf(personId: string): MaybePromise<OwnedKey[]>;
  note(entry: Omit<AuditEntry, 'seq'>): MaybePromise<void>;
  /** At most `limit` entries with a number below `before`. */
  readAudit(question: AuditQuery): MaybePromise<AuditPage>;
  /** Deletes expired sessions and tokens, and audit entries and owners of keys from before `auditSinceMs`. */
  sweep(times: { nowMs: number; auditSinceMs: number }): MaybePromise<void>;
  close(): MaybePromise<void>;
  scim: ScimStore;
}
