import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { en } from './en/en.ts';
import { createFormats } from './formats.ts';
import { languages } from './languages.ts';
import { type LanguageId, preferredLanguage, regionalTag, rememberLanguage } from './preferred-language.ts';
import { LocalizationContext } from './use-messages.ts';

export function LocalizationProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<LanguageId>(preferredLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const localization = useMemo(() => {
    const messages = languages.find(({ id }) => id === language)?.messages ?? en;
    const choose = (id: LanguageId) => {
      rememberLanguage(id);
      setLanguage(id);
    };
    return {
      language,
      setLanguage: choose,
      messages,
      formats: createFormats(language, messages, regionalTag(language)),
    };
  }, [language]);
  return <LocalizationContext value={localization}>{children}</LocalizationContext>;
}
