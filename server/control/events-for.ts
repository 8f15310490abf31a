/** Filters the events for a person who is not an administrator. */
import type { Config } from '../contract/config.ts';
import type { Person } from '../contract/people.ts';
import { type ReportedKeys, visibleEvent } from '../people/event-rules.ts';
import { type Visibility, visibilityOf } from '../people/visibility.ts';
import type { EventListener } from './event-hub.ts';

/** Renumbers the events, because a gap would look like a lost event. */
export function listenerFor(
  person: Person,
  { config, toldKeys }: { config: () => Config; toldKeys: ReportedKeys },
  listener: EventListener,
): EventListener {
  const visibility = latestVisibility(person, config);
  let revision: number | null = null;
  return (message) => {
    const event = visibleEvent(message.event, visibility(), toldKeys);
    if (!event) return;
    revision = revision === null ? message.revision : revision + 1;
    listener({ revision, event });
  };
}

/** Computed once per configuration, because there may be many events and keys. */
function latestVisibility(person: Person, config: () => Config): () => Visibility {
  let known: { config: Config; visibility: Visibility } | null = null;
  return () => {
    const latest = config();
    if (known?.config !== latest) known = { config: latest, visibility: visibilityOf(person, latest) };
    return known.visibility;
  };
}
