import type { WindowLanguage } from '../../server/contract/ipc.ts';
import { en, type Messages } from './en.ts';
import { zh } from './zh.ts';

export type LanguageId = WindowLanguage;

interface Language {
  id: LanguageId;
  /** In itself, so that who needs it can read it. */
  name: string;
  messages: Messages;
}

export const languages: readonly Language[] = [
  { id: 'en', name: 'English', messages: en },
  { id: 'zh-CN', name: '简体中文', messages: zh },
];

const storageKey = 'sluice-language';

/** What was chosen, else the first of the system's languages that there is, else English. */
export function preferredLanguage(): LanguageId {
  const wanted = [readChoice(), ...navigator.languages];
  const found = wanted.map((tag) => languages.find(({ id }) => tag && primary(tag) === primary(id)));
  return found.find((language) => language !== undefined)?.id ?? 'en';
}

export function rememberLanguage(id: LanguageId): void {
  try {
    localStorage.setItem(storageKey, id);
  } catch {
    // Without storage it holds for as long as the window is open.
  }
}

/** The language as it is written where the person lives, such as `en-GB`: dates follow it. */
export function regionalTag(language: LanguageId, wanted: readonly string[] = navigator.languages): string {
  return wanted.find((tag) => isSameScript(tag, language)) ?? language;
}

/** Not of the same script: Chinese as it is written in Taiwan. */
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
