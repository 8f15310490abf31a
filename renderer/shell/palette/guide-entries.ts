/** Palette entries for what the screens explain or let one set: settings, and the clients that can be connected. Pure. */
import { IconPlugConnected, IconSettings } from '@tabler/icons-react';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import type { StatusView } from '../../../server/contract/status-views.ts';
import type { Messages } from '../../messages/en/en.ts';
import { searchableSections } from '../../views/settings/settings-sections.ts';
import type { PaletteEntry } from './palette-entry.ts';

interface SettingsSources {
  messages: Messages;
  sharedCounts: StatusView['sharedCounts'];
  /** Only the desktop program has that section. */
  hasDesktop: boolean;
}

/** The sections of Settings, and each setting by its label or by other words for it, in both languages. */
export function settingsEntries({ messages, sharedCounts, hasDesktop }: SettingsSources): PaletteEntry[] {
  const section = 'settings';
  return searchableSections(messages, { sharedCounts })
    .filter(({ id }) => id !== 'desktop' || hasDesktop)
    .flatMap(({ id, title, words, rows }): PaletteEntry[] => [
      {
        ...{ id: `settings:${id}`, section, Icon: IconSettings, label: title, words: `settings ${words}` },
        act: { href: `/settings?section=${id}` },
      },
      ...rows.map(
        ({ name, label, text }): PaletteEntry => ({
          ...{ id: `setting:${name}`, section, Icon: IconSettings, label, detail: title, words: text },
          act: { href: `/settings?section=${id}&level=advanced` },
        }),
      ),
    ]);
}

export function clientEntries({ palette: names }: Messages): PaletteEntry[] {
  return clientGuides.map(({ id, name }) => ({
    ...{ id: `client:${id}`, section: 'clients', Icon: IconPlugConnected, label: names.connectClient(name) },
    words: `${id} connect client set up`,
    act: { href: `/connect/${id}` },
  }));
}
