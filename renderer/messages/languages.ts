import { en, type Messages } from './en/en.ts';
import type { LanguageId } from './preferred-language.ts';
import { zh } from './zh/zh.ts';

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
