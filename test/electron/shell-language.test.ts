import { expect, it } from 'vitest';
import type { DesktopSettings } from '../../electron/settings-store.ts';
import { createShellLanguage } from '../../electron/shell-language.ts';
import type { WindowLanguage } from '../../server/contract/ipc.ts';

function create(language: WindowLanguage | null, systemLocale: string) {
  let current: DesktopSettings = { notifications: {}, language, hotkey: null, trayCost: false, places: {} };
  const settings = {
    get current() {
      return current;
    },
    remember: (changes: Partial<DesktopSettings>) => {
      current = { ...current, ...changes };
    },
  };
  return createShellLanguage(settings, systemLocale);
}

it.each<[WindowLanguage | null, string, string, string]>([
  [null, 'de', 'de', 'Quit Sluice'],
  [null, 'zh-CN', 'zh-CN', '退出 Sluice'],
  ['zh-CN', 'en-GB', 'zh-CN', '退出 Sluice'],
  ['en', 'en-GB', 'en-GB', 'Quit Sluice'],
  ['en', 'zh-CN', 'en', 'Quit Sluice'],
])('the shell whose window speaks %s on a system in %s speaks %s', (chosen, systemLocale, locale, quit) => {
  const language = create(chosen, systemLocale);
  expect(language.locale).toBe(locale);
  expect(language.messages.quit).toBe(quit);
});

it('speaks another language as soon as it is chosen', () => {
  const language = create(null, 'en-GB');
  expect(language.choose('zh-CN')).toBe(true);
  expect(language.messages.quit).toBe('退出 Sluice');
  expect(language.choose('zh-CN')).toBe(false);
});
