import type { ControlEvent } from '../contract/events.ts';
import { every } from '../ground/timers.ts';
import type { Views } from './views/views.ts';

type LimitUse = Omit<Extract<ControlEvent, { type: 'limit-use' }>, 'type'>;

const everyMs = 1_000;
/** With more keys and groups than this, each is checked less often than once a second. */
const checksPerSecond = 500;

/** Reports changes in the use of limits, checking keys and groups in turn. Returns the function that stops it. */
export function watchLimitUse(views: Pick<Views, 'limited' | 'meters'>, emit: (use: LimitUse) => void): () => void {
  let position = 0;
  /** The last use by key or group, as JSON: of the previous round and of the current one. */
  let before = new Map<string, string>();
  let current = new Map<string, string>();
  const changedMeters = (): LimitUse => {
    const changed: LimitUse = { keys: {}, groups: {} };
    const all = views.limited();
    for (const subject of all.slice(position, position + checksPerSecond)) {
      const meters = views.meters(subject);
      const name = `${subject.scope} ${subject.id}`;
      const text = JSON.stringify(meters);
      if (text !== before.get(name)) changed[`${subject.scope}s`][subject.id] = meters;
      current.set(name, text);
    }
    position += checksPerSecond;
    if (position >= all.length) {
      position = 0;
      before = current;
      current = new Map();
    }
    return changed;
  };
  // The initial state is in the snapshot.
  changedMeters();
  const timer = every(() => {
    const changed = changedMeters();
    if (Object.keys(changed.keys).length + Object.keys(changed.groups).length > 0) emit(changed);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
