/** The panel's texts in the window's language. It loads those that it shows, and none of the window's screens. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { controlProblems } from '../messages/en/control-problems.ts';
import type { Messages } from '../messages/en/en.ts';
import { limits } from '../messages/en/limits.ts';
import { panel } from '../messages/en/panel.ts';
import { shell } from '../messages/en/shell.ts';
import { createFormats, type Formats, type ShownCurrency } from '../messages/formats.ts';
import { type LanguageId, languageStorageKey, preferredLanguage, regionalTag } from '../messages/preferred-language.ts';
import { controlProblems as controlProblemsZh } from '../messages/zh/control-problems.ts';
import { limits as limitsZh } from '../messages/zh/limits.ts';
import { panel as panelZh } from '../messages/zh/panel.ts';
import { shell as shellZh } from '../messages/zh/shell.ts';

export type PanelMessages = Pick<Messages, keyof typeof shell | 'controlProblems' | 'limits' | 'panel'>;

export interface PanelWords {
  language: LanguageId;
  messages: PanelMessages;
  formats: Formats;
}

const catalogues: Record<LanguageId, PanelMessages> = {
  en: { ...shell, controlProblems, limits, panel },
  'zh-CN': { ...shellZh, controlProblems: controlProblemsZh, limits: limitsZh, panel: panelZh },
};

const WordsContext = createContext<PanelWords | null>(null);

/** Follows the language that is chosen in the window. */
export function PanelWordsProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<LanguageId>(preferredLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  useEffect(() => {
    const follow = ({ key }: StorageEvent) => {
      if (key === languageStorageKey || key === null) setLanguage(preferredLanguage());
    };
    window.addEventListener('storage', follow);
    return () => window.removeEventListener('storage', follow);
  }, []);
  const words = useMemo(() => {
    const messages = catalogues[language];
    return { language, messages, formats: createFormats(language, messages, { region: regionalTag(language) }) };
  }, [language]);
  return <WordsContext value={words}>{children}</WordsContext>;
}

/** Shows amounts in this currency; null: in dollars. */
export function AmountsIn({ currency, children }: { currency: ShownCurrency | null; children: ReactNode }) {
  const words = usePanelWords();
  const { language, messages } = words;
  const [code, perDollar] = [currency?.code, currency?.perDollar];
  const shown = useMemo(() => {
    if (code === undefined || perDollar === undefined) return words;
    const formats = createFormats(language, messages, { region: regionalTag(language), currency: { code, perDollar } });
    return { ...words, formats };
  }, [words, language, messages, code, perDollar]);
  return <WordsContext value={shown}>{children}</WordsContext>;
}

export function usePanelWords(): PanelWords {
  const words = useContext(WordsContext);
  if (!words) throw new Error('usePanelWords needs a PanelWordsProvider around it');
  return words;
}
