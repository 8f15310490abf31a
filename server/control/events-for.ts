/** Filters the events for each listener: what a person may see, and what a window keeps. */
import type { Config } from '../contract/config.ts';
import type { ControlEvent } from '../contract/events.ts';
import { maxReported } from '../contract/find.ts';
import type { Person } from '../contract/people.ts';
import type { EventListener } from './event-hub.ts';
import { type EventSources, type People, whereSignedIn } from './people/people.ts';

interface ListenerPorts extends EventSources {
  people: People | null;
}

/** @param person null for the administrator of this machine */
export function listenerFor(person: Person | null, ports: ListenerPorts, listener: EventListener): EventListener {
  const toAdministrator: EventListener = ({ revision, event }) =>
    listener({ revision, event: withReportedLimits(event, ports.config()) });
  if (!person) return toAdministrator;
  return whereSignedIn(ports.people).listener(person, ports, person.isAdmin ? toAdministrator : listener);
}

/** Keeps only the limits of the reported keys and groups, since an administrator's window has no others. */
function withReportedLimits(event: ControlEvent, { keys, groups }: Pick<Config, 'keys' | 'groups'>): ControlEvent {
  if (event.type !== 'limit-use') return event;
  return { ...event, keys: ofFirst(keys, event.keys), groups: ofFirst(groups, event.groups) };
}

function ofFirst<Value>(
  list: readonly { id: string }[],
  entries: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const reported = new Set(list.slice(0, maxReported).map(({ id }) => id));
  return Object.fromEntries(Object.entries(entries).filter(([id]) => reported.has(id)));
}
