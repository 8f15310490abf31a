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
  /** Id of the person; null if it was the administrator of the machine, with the admin token. */
  personId: string | null;
  /** The person's name at that time. */
  personName: string | null;
  /** Id of the API token that was used; null if none was. */
  tokenId: string | null;
  /** The client's IP address; null if unknown. */
  address: string | null;
  /**
   * The command's `type`; `sign-in`; `left`, if the identity provider says that the person has; or `request.read`, whose
   * `target` names the requests.
   */
  action: string;
  /** What the action concerned, such as the id of a key; null if that has no name. */
  target: string | null;
  /** Changes of the configuration, in the form of `import-preview`. */
  changes: ConfigChange[];
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
