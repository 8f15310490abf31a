import { createSessionValue } from './session-value.ts';

/** What has just been done, said at the foot of the window for a moment; empty: nothing. */
export const announcement = createSessionValue<string>('');

const usuallyShownMs = 3_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** `shownMs`: longer for what is to be acted on. */
export function announce(text: string, shownMs = usuallyShownMs): void {
  clearTimeout(timer);
  announcement.set(text);
  timer = setTimeout(() => announcement.set(''), shownMs);
}
