/** The user of the control plane, unless it is the administrator of the machine. */
import { controlError } from '../../contract/control-error.ts';
import type { Person, TokenScope } from '../../contract/people.ts';

export interface Caller {
  person: Person;
  /** Null if the person is signed in and has all their rights. */
  scopes: readonly TokenScope[] | null;
  /** Id of the session or API token. */
  accessId: string;
  /** The client's IP address; null if unknown. */
  address: string | null;
}

/** Throws GatewayError `forbidden` if the scopes of an API token do not permit this. */
export function checkScope({ scopes }: Caller, ...sufficient: readonly TokenScope[]): void {
  if (scopes === null || sufficient.some((scope) => scopes.includes(scope))) return;
  throw controlError('forbidden', { code: 'scope-missing', scope: sufficient.join(' or ') });
}
