/** Which language the window speaks. Knows no texts. */
import { type WindowLanguage, windowLanguages } from '../../server/contract/ipc.ts';

export type LanguageId = WindowLanguage;

/** Where the choice is stored, in the browser or by the desktop. */
export const languageStorageKey = 'sluice-language';

/** The remembered choice; otherwise the first of the system's languages that is supported, or English. */
export function preferredLanguage(): LanguageId {
  const preferred = [readChoice(), ...navigator.languages];
  const matches = preferred.map((tag) => windowLanguages.find((id) => tag && primary(tag) === primary(id)));
  return matches.find((language) => language !== undefined) ?? 'en';
}

export function rememberLanguage(id: LanguageId): void {
  try {
    localStorage.setItem(languageStorageKey, id);
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
    return localStorage.getItem(languageStorageKey);
  } catch {
    return null;
  }
}

function primary(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag;
}
