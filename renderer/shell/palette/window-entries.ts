/**
 * Palette entries besides the configuration: screens, requests, appearance, language, settings, and the clients that can
 * be connected. Pure.
 */
import type { MantineColorScheme } from '@mantine/core';
import {
  IconKeyboard,
  IconLanguage,
  IconListSearch,
  IconPlugConnected,
  IconSettings,
  IconSun,
} from '@tabler/icons-react';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import { type Place, pathOf, placeOf, places, type ScreenName } from '../../../server/contract/places.ts';
import type { StatusView } from '../../../server/contract/status-views.ts';
import { en, type Messages } from '../../messages/en/en.ts';
import { languages } from '../../messages/languages.ts';
import type { LanguageId } from '../../messages/preferred-language.ts';
import type { Localization } from '../../messages/use-messages.ts';
import { overlay } from '../../state/window/overlay.ts';
import { goKeyCaps } from '../../state/window/shortcuts.ts';
import { searchableSections } from '../../views/settings/search/settings-sections.ts';
import { screens as entries } from '../screens/screens.ts';
import type { PaletteEntry } from './palette-entry.ts';

/** Also found by their English names, whatever the language. */
export function screenEntries({ screens: names }: Messages, screens: readonly ScreenName[]): PaletteEntry[] {
  return screens.map((name) => ({
    ...{ id: `screen:${name}`, section: 'screens', Icon: entries[name].Icon, label: names[name] },
    detail: keysOf(name),
    words: `${en.screens[name]} ${en.places[placeOf(name)]}`,
    act: { href: pathOf(name) },
  }));
}

/** The keys that lead to the first screen of a place. */
function keysOf(name: ScreenName): string | null {
  const place: Place | undefined = places.find(({ screens: [first] }) => first === name);
  return place ? goKeyCaps(place).join(' ') : null;
}

interface Appearance {
  colorScheme: MantineColorScheme;
  setColorScheme(scheme: MantineColorScheme): void;
}

/** What a language is called in the other one. */
const languageWords: Record<LanguageId, string> = { en: 'english 英文 英语', 'zh-CN': 'chinese 中文 汉语' };

const schemes = ['auto', 'light', 'dark'] as const;

export function windowEntries(
  { messages, language, setLanguage }: Localization,
  { colorScheme, setColorScheme }: Appearance,
): PaletteEntry[] {
  const { palette: names, schemes: schemeNames } = messages;
  const section = 'window';
  const otherLanguages = languages.filter(({ id }) => id !== language);
  const otherSchemes = schemes.filter((scheme) => scheme !== colorScheme);
  return [
    {
      ...{ id: 'shortcuts', section, Icon: IconKeyboard, label: messages.shortcuts.title, words: '? help keys' },
      act: { run: () => overlay.open('shortcuts') },
    },
    ...otherLanguages.map(
      ({ id, name }): PaletteEntry => ({
        ...{ id: `language:${id}`, section, Icon: IconLanguage, label: names.useLanguage(name) },
        words: `language 语言 ${languageWords[id]}`,
        act: { run: () => setLanguage(id) },
      }),
    ),
    ...otherSchemes.map(
      (scheme): PaletteEntry => ({
        ...{ id: `appearance:${scheme}`, section, Icon: IconSun, label: names.useAppearance(schemeNames[scheme]) },
        words: `theme appearance ${en.schemes[scheme]}`,
        act: { run: () => setColorScheme(scheme) },
      }),
    ),
  ];
}

const requestId = /^req_\w+$/i;

/** An entry for the text if it is the id of a request; otherwise null. */
export function requestEntry(search: string, { palette: names }: Messages): PaletteEntry | null {
  const id = search.trim();
  if (!requestId.test(id)) return null;
  const act = { href: `/requests/${encodeURIComponent(id)}` };
  return { id: 'open-request', section: 'requests', Icon: IconListSearch, label: names.openRequest(id), act };
}

/** Searches the request log for the text. */
export function requestSearchEntry(search: string, { palette: names }: Messages): PaletteEntry {
  const text = search.trim();
  const act = { href: `/requests?${new URLSearchParams({ q: text })}` };
  return { id: 'search-requests', section: 'requests', Icon: IconListSearch, label: names.searchRequests(text), act };
}

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
