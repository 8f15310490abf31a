import { useMemo } from 'react';
import {
  isListed,
  maySee,
  type Place,
  placesFor,
  type ScreenName,
  screenNames,
} from '../../../server/contract/places.ts';
import { useControlState } from '../control/use-control.ts';
import { useViewer } from './use-rights.ts';

/** The places of whoever looks at the window, each with the screens that they may use in it. */
export function usePlaces(): readonly Place[] {
  const viewer = useViewer();
  return useMemo(() => placesFor(viewer), [viewer]);
}

/** The screens that they may use, whether they are listed or not. */
export function useScreens(): readonly ScreenName[] {
  const viewer = useViewer();
  return useMemo(() => screenNames.filter((name) => maySee(name, viewer)), [viewer]);
}

/** The screens that are listed beside `current`, itself included. */
export function useTabs(current: ScreenName): readonly ScreenName[] {
  const viewer = useViewer();
  const place = usePlaces().find(({ screens }) => screens.includes(current));
  const groupCount = useControlState(({ views }) => views?.groupCount ?? 0);
  return place?.screens.filter((name) => name === current || isListed(name, viewer, groupCount)) ?? [];
}
