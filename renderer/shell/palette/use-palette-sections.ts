import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { ConfigViews } from '../../../server/contract/events.ts';
import { screenAt } from '../../../server/contract/places.ts';
import { searchDelayMs } from '../../components/lists/LongList.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { Kind } from '../../state/control/control-store.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useReportedAndFound } from '../../state/control/use-found.ts';
import { useConditionTime } from '../../state/providers/providers.ts';
import { useCanChange, useLocks, useScreens } from '../../state/rights/use-rights.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { configEntries } from './config-entries.ts';
import {
  findEntries,
  firstEntries,
  mostInSection,
  type PaletteEntry,
  type PaletteSection,
  recentEntries,
} from './palette-entry.ts';
import {
  clientEntries,
  requestEntry,
  requestSearchEntry,
  screenEntries,
  settingsEntries,
  windowEntries,
} from './window-entries.ts';

/** The palette's sections for the text typed. */
export function usePaletteSections(search: string): PaletteSection[] {
  const [recentIds] = useState(recentEntries);
  const entries = useEntries(useViews(search, recentIds));
  const { messages } = useLocalization();
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

/** The views, with keys and groups that are not reported but match the search or were used recently. */
function useViews(search: string, recentIds: readonly string[]): ConfigViews | null {
  const views = useControlState((state) => state.views);
  const keys = useMatching('key', search, recentIds);
  const groups = useMatching('group', search, recentIds);
  return useMemo(() => views && { ...views, keys: [...keys], groups: [...groups] }, [views, keys, groups]);
}

function useMatching<K extends Kind>(kind: K, search: string, recentIds: readonly string[]) {
  const [settledSearch] = useDebouncedValue(search.trim(), searchDelayMs);
  // Entries are called `key:k1` and `copy-secret:k1`.
  const names = kind === 'key' ? ['key:', 'copy-secret:'] : ['group:'];
  const ids = recentIds.flatMap((id) => names.flatMap((name) => (id.startsWith(name) ? [id.slice(name.length)] : [])));
  const question = settledSearch === '' ? { ids } : { search: settledSearch };
  return useReportedAndFound(kind, { ...question, limit: mostInSection }).views;
}

function useEntries(views: ConfigViews | null): PaletteEntry[] {
  const localization = useLocalization();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { execute } = useControlStore();
  const locks = useLocks();
  const screens = useScreens();
  const canChange = useCanChange();
  const hasDesktop = Boolean(useDesktop()?.view);
  const nowMs = useConditionTime();
  return useMemo(() => {
    const { messages } = localization;
    const sharedCounts = views?.status.sharedCounts ?? null;
    const whyNot = views?.status.readOnly ? messages.readOnly : messages.commandFailed.unanswered;
    const unchangeable = canChange ? null : whyNot;
    const all = [
      ...screenEntries(messages, screens),
      ...(views
        ? configEntries({ messages, views, locks, unchangeable, execute, nowMs, isAdmin: screens.includes('settings') })
        : []),
      ...windowEntries(localization, { colorScheme, setColorScheme }),
      ...(screens.includes('connect') ? clientEntries(messages) : []),
      ...(screens.includes('settings') ? settingsEntries({ messages, sharedCounts, hasDesktop }) : []),
    ];
    return all.filter(({ act }) => !('href' in act) || screens.some((name) => name === screenAt(act.href)));
  }, [localization, colorScheme, setColorScheme, views, locks, screens, canChange, execute, hasDesktop, nowMs]);
}
