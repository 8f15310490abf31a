import { createSessionValue } from './session-value.ts';

/** The message about the last action, shown at the foot of the window for a moment; empty if there is none. */
export const announcement = createSessionValue<string>('');

const defaultShownMs = 3_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** `shownMs`: use a longer time for messages that the person can act on. */
export function announce(text: string, shownMs = defaultShownMs): void {
  clearTimeout(timer);
  announcement.set(text);
  timer = setTimeout(() => announcement.set(''), shownMs);
}
