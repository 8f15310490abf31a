import type { Person } from '../../../server/contract/people.ts';
import { usePerson } from '../../state/rights/use-rights.ts';
import { type ScreenEntry, screens } from './screens.ts';

/** The screens that the person may use, in the order of the navigation. The first is shown for unknown addresses. */
export function useScreens(): readonly ScreenEntry[] {
  const person = usePerson();
  return screens.filter(({ audience }) => isFor(audience, person));
}

function isFor(audience: ScreenEntry['audience'], person: Person | null): boolean {
  switch (audience) {
    case 'admins':
      return person === null || person.isAdmin;
    case 'people':
      return person !== null;
    case 'admins-of-people':
      return person?.isAdmin ?? false;
    default:
      return true;
  }
}
