/**
 * What SCIM says of people who have signed in. A person is the user whose `externalId` is the value of the claim
 * `people.externalIdClaim`, which nobody can change for themselves. A name or an e-mail address is never enough, since some
 * identity providers let people change these: whoever took another one's would get their groups.
 */
import { isSameIssuer, type PeopleSettings } from '../../contract/people.ts';
import type { ScimStanding, ScimStore, ScimToken, StoredPerson } from '../../store/ports/people-store.ts';

export interface Standing {
  /** `unknown`: nothing was pushed of the person. */
  state: 'active' | 'disabled' | 'unknown';
  /** Whether they are in a group, by the names that it has in the claim, as far as that was said. */
  said: ReadonlyMap<string, boolean>;
}

type Identified = Pick<StoredPerson, 'issuer' | 'subject' | 'externalId'>;
type Known = Identified & Pick<StoredPerson, 'checkedAt'>;
type Settings = Pick<PeopleSettings, 'issuer' | 'externalIdClaim'>;

/** The token while it counts; null while SCIM is off: without one, or if it was made for another identity provider. */
export async function readScimToken(store: ScimStore, { issuer }: Settings): Promise<ScimToken | null> {
  const token = await store.readToken();
  return token && isSameIssuer(token.issuer, issuer) ? token : null;
}

/** By which SCIM knows the person; null if the identity provider has not told it. */
export function externalIdOf({ subject, externalId }: Identified, { externalIdClaim }: Settings): string | null {
  return externalIdClaim === 'sub' ? subject : externalId;
}

/** What SCIM says of each of these people; null while it is off. */
export async function readStandings(
  store: ScimStore,
  people: readonly Known[],
  settings: Settings,
): Promise<((person: Known) => Standing) | null> {
  if (people.length === 0 || !(await readScimToken(store, settings))) return null;
  const externalIds = people.flatMap((person) => externalIdOf(person, settings) ?? []);
  const standings = await store.standings(externalIds);
  return (person) => {
    const externalId = externalIdOf(person, settings);
    const found =
      externalId === null || !isSameIssuer(person.issuer, settings.issuer) ? undefined : standings.get(externalId);
    if (!found) return { state: 'unknown', said: new Map() };
    return { state: found.isActive ? 'active' : 'disabled', said: saidGroups(found.groups, person.checkedAt) };
  };
}

/**
 * Claims name groups as SCIM does, or by what it calls their external id. That comes first: whoever may make a group names it,
 * but only the identity provider gives it an id. Who was no member of a group that is gone is none until the claim was read
 * again, since it may be from when they were.
 */
function saidGroups(groups: ScimStanding['groups'], checkedAt: number): Standing['said'] {
  const said = new Map<string, boolean>();
  for (const { displayName, externalId, isMember, goneAt } of groups) {
    if (goneAt !== null && goneAt <= checkedAt) continue;
    for (const name of new Set([displayName, externalId])) {
      if (name !== null) said.set(name, isMember || (said.get(name) ?? false));
    }
  }
  return said;
}
