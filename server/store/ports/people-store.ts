/** The port to the store of people, their sessions and tokens, and the audit list. */
import type { TokenScope } from '../../contract/people.ts';
import type { AuditEntry } from '../../contract/people-views.ts';
import type { MaybePromise } from '../../ground/promises.ts';

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

// The port to what an identity provider has pushed by SCIM: its users, their groups, and the token it has for that.

/** The token of the identity provider. Only the hash of its secret is stored. */
export interface ScimToken {
  /** SHA-256 of the secret, as hexadecimal digits. */
  hash: string;
  /** Of the identity provider that it was made for. */
  issuer: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** Null if it was never used. */
  usedAt: number | null;
}

/** What is stored of a user, in the words of SCIM. */
export interface ScimAttributes {
  userName: string;
  externalId: string | null;
  active: boolean;
  displayName: string | null;
  name: Readonly<Record<string, string>>;
  emails: readonly ScimEmail[];
}

export interface ScimEmail {
  value: string;
  type?: string;
  display?: string;
  primary?: boolean;
}

export interface ScimUser {
  id: string;
  attributes: ScimAttributes;
  /** Increases with each change. */
  version: number;
  /** Null if nothing of theirs is left to be ended. */
  ending: ScimEnding | null;
  /** Unix milliseconds. */
  createdAt: number;
  modifiedAt: number;
}

/** People who have left and what they have, which is to be ended: stored with the change that says so, until it is done. */
export interface ScimEnding {
  leavers: readonly ScimLeaver[];
  /** When it is tried again, unless it is done before. Unix milliseconds. */
  dueAt: number;
}

/** Who a user was. */
export interface ScimLeaver {
  externalId: string | null;
  /** In lower case. */
  addresses: readonly string[];
}

export interface ScimGroup {
  id: string;
  displayName: string;
  externalId: string | null;
  /** Unix milliseconds. */
  createdAt: number;
  modifiedAt: number;
}

/** All that are named must hold. Names and e-mail addresses are compared without regard to case. */
export interface ScimUserFilter {
  id?: string;
  userName?: string;
  externalId?: string;
  email?: string;
  active?: boolean;
}

export interface ScimGroupFilter {
  id?: string;
  displayName?: string;
  externalId?: string;
  /** Id of a member. */
  member?: string;
}

interface ScimPage<Resource> {
  /** Those of the page, oldest first. */
  found: Resource[];
  /** How many there are on all pages. */
  total: number;
}

/** Of the resources that a filter finds. */
export interface ScimRange {
  skip: number;
  limit: number;
}

/** A group of which it was said that a user is a member, or is one no more. */
interface SaidGroup {
  /** Null if it is the external id of another group. */
  displayName: string | null;
  externalId: string | null;
  isMember: boolean;
  /** When the group was deleted or named otherwise: what was said of its former names. Null for what is said now. */
  goneAt: number | null;
}

/** What was pushed of the user with an external id. */
export interface ScimStanding {
  /** False also if the user was deleted. */
  isActive: boolean;
  groups: readonly SaidGroup[];
}

interface ScimCounts {
  users: number;
  active: number;
  /** Of those who are active. */
  withoutExternalId: number;
  groups: number;
  /** Of the identity provider that has pushed them; null if there was never a token. */
  issuer: string | null;
}

/** All methods reject or throw with a GatewayError `storage_unavailable` if the store cannot be reached. */
export interface ScimStore {
  /** Null while SCIM is off. */
  readToken(): MaybePromise<ScimToken | null>;
  /** Replaces the token. What the identity provider of another issuer has pushed is deleted. */
  replaceToken(token: Pick<ScimToken, 'hash' | 'issuer' | 'createdAt'>): Promise<void>;
  /** False if there was none. What was pushed stays. */
  endToken(): Promise<boolean>;
  noteUse(atMs: number): Promise<void>;
  counts(): Promise<ScimCounts>;

  /** False if the user name or external id is taken. */
  addUser(user: ScimUser): Promise<boolean>;
  /**
   * Stores the next version. `changed`: it is not the next one of what is stored. An external id that is replaced is
   * remembered as that of a user who is not active. If such a user gets another external id, they are somebody else, who
   * is in no group.
   */
  replaceUser(user: ScimUser): Promise<'stored' | 'taken' | 'changed'>;
  /** Its external id is remembered as that of a user who is not active. Null if there is no such user. */
  removeUser(id: string, atMs: number): Promise<ScimUser | null>;
  /** Users of whom something is to be ended by now, which is then due again at `nextMs`: of several replicas, one gets each. */
  claimEndings(due: { nowMs: number; nextMs: number }): Promise<ScimUser[]>;
  /** It is done, unless there is more to be ended meanwhile. */
  endingDone(user: Pick<ScimUser, 'id' | 'ending'>): Promise<void>;
  findUsers(filter: ScimUserFilter, range: ScimRange): Promise<ScimPage<ScimUser>>;
  /** By external id, of those that it knows. */
  standings(externalIds: readonly string[]): Promise<Map<string, ScimStanding>>;

  /** False if the name is taken. */
  addGroup(group: ScimGroup): Promise<boolean>;
  replaceGroup(group: ScimGroup): Promise<'stored' | 'taken' | 'changed'>;
  /** False if there is no such group. Of those who were its members, nothing is said any more. */
  removeGroup(id: string, atMs: number): Promise<boolean>;
  findGroups(filter: ScimGroupFilter, range: ScimRange): Promise<ScimPage<ScimGroup>>;
  /** The groups of a user. */
  groupsOf(userId: string): Promise<ScimGroup[]>;
  members(groupId: string): Promise<{ id: string; userName: string }[]>;
  /** Ids of users that there are. */
  known(userIds: readonly string[]): Promise<Set<string>>;
  /** Resolves with the user names of those for whom that changes something. */
  setMembers(groupId: string, userIds: readonly string[], isMember: boolean): Promise<string[]>;
  /** All others are members no more: their user names. */
  keepMembers(groupId: string, userIds: readonly string[]): Promise<string[]>;
}
