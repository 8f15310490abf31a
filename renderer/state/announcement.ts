import { createSessionValue } from './session-value.ts';

/** What has just been done, said at the foot of the window for a moment; empty: nothing. */
export const announcement = createSessionValue<string>('');

const shownMs = 3_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  clearTimeout(timer);
  announcement.set(text);
  timer = setTimeout(() => announcement.set(''), shownMs);
}
