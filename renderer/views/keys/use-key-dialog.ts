import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useKey } from '../../state/control/use-found.ts';
import type { KeyDialogContent } from './dialog/KeyDialog.tsx';

/**
 * The content of the dialog, and a function to change it. The address opens it too: `/keys?new`, and `/keys?key=k1` for
 * the form of that key, with `&budget=usd-day` in the field of that budget.
 */
export function useKeyDialog(): [KeyDialogContent | null, (content: KeyDialogContent | null) => void] {
  const [opened, setOpened] = useState<KeyDialogContent | null>(null);
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const view = useKey(search.get('key'));
  const fromAddress: KeyDialogContent | null = search.has('new')
    ? { act: 'create' }
    : view
      ? { act: 'edit', view }
      : null;
  const change = (content: KeyDialogContent | null) => {
    setOpened(content);
    if (!fromAddress) return;
    for (const name of ['new', 'key', 'budget']) search.delete(name);
    goTo(search.size > 0 ? `${path}?${search}` : path, { replace: true });
  };
  return [opened ?? fromAddress, change];
}
