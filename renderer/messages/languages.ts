import type { WindowLanguage } from '../../server/contract/ipc.ts';
import { en, type Messages } from './en/en.ts';
import { zh } from './zh/zh.ts';

export type LanguageId = WindowLanguage;

interface Language {
  id: LanguageId;
  /** In the language itself, so that its speakers can read it. */
  name: string;
  messages: Messages;
}

export const languages: readonly Language[] = [
  { id: 'en', name: 'English', messages: en },
  { id: 'zh-CN', name: '简体中文', messages: zh },
];

const storageKey = 'sluice-language';

/** The remembered choice; otherwise the first of the system's languages that is supported, or English. */
export function preferredLanguage(): LanguageId {
  const preferred = [readChoice(), ...navigator.languages];
  const matches = preferred.map((tag) => languages.find(({ id }) => tag && primary(tag) === primary(id)));
  return matches.find((language) => language !== undefined)?.id ?? 'en';
}

export function rememberLanguage(id: LanguageId): void {
  try {
    localStorage.setItem(storageKey, id);
  } catch {
    // Without storage, the choice lasts as long as the window is open.
  }
}

/** The regional variant of the language, such as `en-GB`, which dates follow. */
export function regionalTag(language: LanguageId, preferred: readonly string[] = navigator.languages): string {
  return preferred.find((tag) => isSameScript(tag, language)) ?? language;
}

/** False for Chinese as written in Taiwan, which uses another script. */
function isSameScript(tag: string, language: LanguageId): boolean {
  if (primary(tag) !== primary(language)) return false;
  return new Intl.Locale(tag).maximize().script === new Intl.Locale(language).maximize().script;
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function primary(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag;
}
