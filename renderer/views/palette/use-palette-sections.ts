import { useMantineColorScheme } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState, useControlStore } from '../../state/use-control.ts';
import { useLocks } from '../../state/use-locks.ts';
import { useScreens } from '../../state/use-screens.ts';
import { configEntries } from './config-entries.ts';
import { findEntries, firstEntries, type PaletteSection } from './find-entries.ts';
import type { PaletteEntry } from './palette-entry.ts';
import { recentEntries } from './recent-entries.ts';
import { requestEntry, requestSearchEntry, screenEntries, windowEntries } from './window-entries.ts';

/** The palette's sections for the text typed. */
export function usePaletteSections(search: string): PaletteSection[] {
  const entries = useEntries();
  const { messages } = useLocalization();
  const [recentIds] = useState(recentEntries);
  return useMemo(() => {
    if (search.trim() === '') return firstEntries(entries, recentIds);
    const byId = requestEntry(search, messages);
    const found = findEntries(entries, search, recentIds);
    const inRequests = requestSearchEntry(search, messages);
    // If the text is the id of a request, that request comes first.
    if (byId) return [{ name: 'requests', entries: [byId, inRequests] }, ...found];
    return [...found, { name: 'requests', entries: [inRequests] }];
  }, [entries, recentIds, search, messages]);
}

function useEntries(): PaletteEntry[] {
  const localization = useLocalization();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { execute } = useControlStore();
  const views = useControlState((state) => state.views);
  const locks = useLocks();
  const screens = useScreens();
  const canChange = useCanChange();
  return useMemo(() => {
    const { messages } = localization;
    const whyNot = views?.status.readOnly ? messages.readOnly : messages.commandFailed.unanswered;
    const unchangeable = canChange ? null : whyNot;
    return [
      ...screenEntries(messages, screens),
      ...(views ? configEntries({ messages, views, locks, unchangeable, execute }) : []),
      ...windowEntries(localization, { colorScheme, setColorScheme }),
    ];
  }, [localization, colorScheme, setColorScheme, views, locks, screens, canChange, execute]);
}
