import type { ControlEvent } from '../contract/events.ts';
import type { Views } from './views.ts';

type LimitUse = Omit<Extract<ControlEvent, { type: 'limit-use' }>, 'type'>;

const everyMs = 1_000;

/** Tells how much of each limit is used when that has changed; returns how to stop. It falls by time alone too. */
export function watchLimitUse(views: Pick<Views, 'limitUse'>, tell: (use: LimitUse) => void): () => void {
  let last = JSON.stringify(views.limitUse());
  const timer = setInterval(() => {
    const use = views.limitUse();
    const text = JSON.stringify(use);
    if (text === last) return;
    last = text;
    tell(use);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
