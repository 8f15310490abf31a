/** The language of tray, dialogs and notifications: that of the window, or of the system if it was never opened. */
import type { WindowLanguage } from '../server/contract/ipc.ts';
import { messagesFor, type ShellMessages } from './messages.ts';
import type { DesktopSettingsStore } from './settings-store.ts';

export interface ShellLanguage {
  readonly messages: ShellMessages;
  /** For formatting numbers. */
  readonly locale: string;
}

export interface ChosenLanguage extends ShellLanguage {
  /** Returns whether the language has changed. */
  choose(language: WindowLanguage): boolean;
}

/** @param systemLocale such as `en-GB` */
export function createShellLanguage(
  settings: Pick<DesktopSettingsStore, 'current' | 'remember'>,
  systemLocale: string,
): ChosenLanguage {
  const locale = () => {
    const { language } = settings.current;
    return language === null || primary(language) === primary(systemLocale) ? systemLocale : language;
  };
  return {
    get messages() {
      return messagesFor(locale());
    },
    get locale() {
      return locale();
    },
    choose(language) {
      if (language === settings.current.language) return false;
      settings.remember({ language });
      return true;
    },
  };
}

function primary(tag: string): string | undefined {
  return tag.split('-')[0]?.toLowerCase();
}
