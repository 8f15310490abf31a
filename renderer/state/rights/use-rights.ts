import { useMemo } from 'react';
import { type KeyRight, mayWithKey } from '../../../server/contract/key-rights.ts';
import type { Person } from '../../../server/contract/people.ts';
import { maySee, screenAt, type Viewer, viewerOf } from '../../../server/contract/places.ts';
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
