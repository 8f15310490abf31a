import { type ScreenEntry, screens } from '../views/screens.ts';
import { useControlState } from './use-control.ts';

const forEverybody = screens.filter(({ isForAdmins }) => !isForAdmins);

/** Those that the person may use, in the order of the navigation. The first one is shown for an address that leads to none. */
export function useScreens(): readonly ScreenEntry[] {
  const isLimited = useControlState(({ views }) => views?.status.person?.isAdmin === false);
  return isLimited ? forEverybody : screens;
}
