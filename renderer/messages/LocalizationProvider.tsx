import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { en } from './en/en.ts';
import { createFormats, type ShownCurrency } from './formats.ts';
import { languages } from './languages.ts';
import { type LanguageId, preferredLanguage, regionalTag, rememberLanguage } from './preferred-language.ts';
import { LocalizationContext } from './use-messages.ts';

interface LocalizationProps {
  /** In which amounts of money are shown; null: in dollars. */
  currency?: ShownCurrency | null;
  children: ReactNode;
}

export function LocalizationProvider({ currency = null, children }: LocalizationProps) {
  const [language, setLanguage] = useState<LanguageId>(preferredLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const [code, perDollar] = [currency?.code, currency?.perDollar];
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
      formats: createFormats(language, messages, {
        region: regionalTag(language),
        currency: code === undefined || perDollar === undefined ? null : { code, perDollar },
      }),
    };
  }, [language, code, perDollar]);
  return <LocalizationContext value={localization}>{children}</LocalizationContext>;
}
