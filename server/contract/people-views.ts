/** Views of people who sign in, their API tokens, and the audit list. */
import type { ConfigChange } from './change-views.ts';
import type { Limits } from './limit-settings.ts';
import type { LimitMeter } from './limits.ts';
import type { Person, TokenScope } from './people.ts';

/** A change that a person made, or the reading of what was captured. Contains no secrets. */
export interface AuditEntry {
  /** Increases with each entry. */
  seq: number;
  /** Unix milliseconds. */
  at: number;
  /** Id of the person; `scim` if it was the identity provider; null if it was the administrator of the machine, with the admin token. */
  personId: string | null;
  /** The person's name at that time. */
  personName: string | null;
  /** Id of the API token that was used; null if none was. */
  tokenId: string | null;
  /** The client's IP address; null if unknown. */
  address: string | null;
  /**
   * The command's `type`; `sign-in`; `left`, if the identity provider says that the person has: `target` names keys that go on, as
   * the configuration is a file that Sluice does not write; `request.read`, whose `target` names the requests; or a
   * `ScimAction`.
   */
  action: string;
  /** What the action concerned, such as the id of a key; null if that has no name. */
  target: string | null;
  /** Changes of the configuration, in the form of `import-preview`, or of what SCIM has pushed. */
  changes: AuditChange[];
}

/**
 * Of a group that SCIM has pushed, `fields` has `members.added` and `members.removed`, each with the user names of at most
 * 50, and then their number as `members.added.count`.
 */
export interface AuditChange extends Omit<ConfigChange, 'part'> {
  part: ConfigChange['part'] | 'scim-user' | 'scim-group';
}

export interface PersonView extends Person {
  /** Over all of their keys together; null: none. */
  limits: Limits | null;
  /** Whether these are the person's own, in place of those of everybody. */
  hasOwnLimits: boolean;
  limitUse: LimitMeter[];
  /** Unix milliseconds. */
  signedInAt: number;
  /** When the identity provider last told of the groups. */
  checkedAt: number;
  /** Whether it is asked again before the next sign-in. */
  isChecked: boolean;
  /** What SCIM says of the person; `unknown`: it knows nobody of their external id. Null while SCIM is off. */
  scim: 'active' | 'disabled' | 'unknown' | null;
}

/** What the identity provider does by SCIM, in the audit list. */
export type ScimAction =
  | `scim.user.${'create' | 'update' | 'disable' | 'enable' | 'delete'}`
  | `scim.group.${'create' | 'update' | 'delete'}`;

/** SCIM, by which the identity provider pushes people and groups. */
export interface ScimView {
  isOn: boolean;
  /** To enter at the identity provider. */
  url: string;
  /** When the token was made; null while SCIM is off. Unix milliseconds. */
  createdAt: number | null;
  /** When the token was last used; null if never. */
  usedAt: number | null;
  /** How many people were pushed, and how many of them are active. */
  users: number;
  active: number;
  groups: number;
  /** How many of the active ones have no `externalId`, so that nobody who signs in is one of them. */
  withoutExternalId: number;
  /** How many people have signed in whom SCIM does not know, so that it cannot shut them out; 0 while it is off. */
  unknownPeople: number;
  /** A new token deletes what was pushed, because that was by another identity provider. */
  deletesPushed: boolean;
}

/** Without what the settings and the limiter know of them. */
export type KnownPerson = Omit<PersonView, 'limits' | 'hasOwnLimits' | 'limitUse'>;

export interface TokenView {
  id: string;
  personId: string;
  name: string;
  scopes: readonly TokenScope[];
  /** Unix milliseconds. */
  createdAt: number;
  expiresAt: number;
}
