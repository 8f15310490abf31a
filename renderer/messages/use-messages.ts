import { createContext, useContext } from 'react';
import type { Messages } from './en/en.ts';
import type { Formats } from './formats.ts';
import type { LanguageId } from './preferred-language.ts';

export interface Localization {
  language: LanguageId;
  setLanguage(id: LanguageId): void;
  messages: Messages;
  formats: Formats;
}

export const LocalizationContext = createContext<Localization | null>(null);

export function useLocalization(): Localization {
  const localization = useContext(LocalizationContext);
  if (!localization) throw new Error('useLocalization needs a LocalizationProvider around it');
  return localization;
}

/** Texts in the chosen language. */
export function useMessages(): Messages {
  return useLocalization().messages;
}
