import { useMemo } from 'react';
import { type KeyRight, mayWithKey } from '../../../server/contract/key-rights.ts';
import { findLocks, type Lock, type Locks } from '../../../server/contract/lock.ts';
import type { Person } from '../../../server/contract/people.ts';
import {
  isListed,
  maySee,
  type Place,
  placesFor,
  type ScreenName,
  screenAt,
  screenNames,
  type Viewer,
  viewerOf,
} from '../../../server/contract/places.ts';
import type { Messages } from '../../messages/en/en.ts';
import { useControlState } from '../control/use-control.ts';
import { useKey } from '../control/use-found.ts';

interface Rights {
  isAdmin: boolean;
  /** Whether the person may open the screen that a link leads to. */
  mayOpen(href: string): boolean;
  manages(groupId: string): boolean;
  mayWithKey(right: KeyRight, key: { group: string; owner: string | null }): boolean;
}

/** The person signed in; null if no sign-in is needed. */
export function usePerson(): Person | null {
  return useControlState(({ views }) => views?.status.person ?? null);
}

/** Who looks at the window: the same object as long as nothing about them changes. */
export function useViewer(): Viewer {
  const person = usePerson();
  const isShared = useControlState(({ views }) => viewerOf(views?.status).isShared);
  return useMemo(() => ({ person, isShared }), [person, isShared]);
}

/**
 * What the person may do: everything if there is no sign-in. The engine enforces the rights; this is for display only.
 */
export function useRights(): Rights {
  const viewer = useViewer();
  const { person } = viewer;
  const isAdmin = person?.isAdmin ?? true;
  return {
    isAdmin,
    mayOpen(href) {
      const screen = screenAt(href);
      return screen !== null && maySee(screen, viewer);
    },
    manages: (groupId) => isAdmin || (person?.manages.includes(groupId) ?? false),
    mayWithKey: (right, key) => person === null || mayWithKey(right, person, key),
  };
}

/** Whether the person may stop something that was started for a key, a group or everything. */
export function useMayStop({ kind, id }: { kind: 'key' | 'group' | 'all'; id: string | null }): boolean {
  const { isAdmin, manages } = useRights();
  const key = useKey(kind === 'key' ? id : null);
  const groupId = kind === 'key' ? (key?.group ?? null) : id;
  return isAdmin || (groupId !== null && manages(groupId));
}

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

const none: readonly Lock[] = [];

/** Values locked by team presets. The engine refuses to change them; the window only shows them as locked. */
export function useLocks(): Locks {
  const locks = useControlState((state) => state.views?.status.team.locks ?? none);
  return useMemo(() => findLocks(locks), [locks]);
}

/** Whether commands can succeed: the engine answers and may write its configuration. */
export function useCanChange(): boolean {
  return useControlState((state) => state.connection === 'open' && state.views?.status.readOnly === false);
}

/** The highest of a person's roles; empty if there is none. */
export function describeRole({ isAdmin, manages, memberOf }: Person, names: Messages['account']): string {
  if (isAdmin) return names.admin;
  if (manages.length > 0) return names.manager(manages.join(', '));
  return memberOf.length > 0 ? names.member(memberOf.join(', ')) : '';
}
