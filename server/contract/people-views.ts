/** Views of people who sign in, of their API tokens, and of the audit list. */
import type { ConfigChange } from './change-views.ts';
import type { Person, TokenScope } from './people.ts';

/** A change that somebody made. Holds no secrets. */
export interface AuditEntry {
  /** Increases with each entry. */
  seq: number;
  /** Unix milliseconds. */
  at: number;
  /** Id of the person; null: the administrator of the machine, with its admin token. */
  personId: string | null;
  /** As the person was called then. */
  personName: string | null;
  /** Of the API token that was used; null: none. */
  tokenId: string | null;
  /** The client's IP address; null: unknown. */
  address: string | null;
  /** The command's `type`, or `sign-in`. */
  action: string;
  /** What it was about, such as the id of a key; null: nothing with a name. */
  target: string | null;
  /** Of the configuration, in the form of `import-preview`. */
  changes: ConfigChange[];
}

export interface PersonView extends Person {
  /** Unix milliseconds. */
  signedInAt: number;
}

export interface TokenView {
  id: string;
  personId: string;
  name: string;
  scopes: readonly TokenScope[];
  /** Unix milliseconds. */
  createdAt: number;
  expiresAt: number;
}
