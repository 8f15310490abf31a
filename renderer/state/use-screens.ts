import { type ScreenEntry, screens } from '../views/screens.ts';
import { useRights } from './use-rights.ts';

const forEverybody = screens.filter(({ isForAdmins }) => !isForAdmins);

/** Those that the person may use, in the order of the navigation. The first one is shown for an address that leads to none. */
export function useScreens(): readonly ScreenEntry[] {
  const { isAdmin } = useRights();
  return isAdmin ? screens : forEverybody;
}
