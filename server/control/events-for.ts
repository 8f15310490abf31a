/** Tells a person who is no administrator what they may see of the events. */
import type { Config } from '../contract/config.ts';
import type { Person } from '../contract/people.ts';
import { keptEvent, type Told } from '../people/event-rules.ts';
import { type Sight, sightOf } from '../people/sight.ts';
import type { EventListener } from './event-hub.ts';

/** Numbers the events anew, since one that is left out would look like one that was lost. */
export function listenerFor(
  person: Person,
  { config, told }: { config: () => Config; told: Told },
  listener: EventListener,
): EventListener {
  const sight = sightOfLatest(person, config);
  let revision: number | null = null;
  return (message) => {
    const event = keptEvent(message.event, sight(), told);
    if (!event) return;
    revision = revision === null ? message.revision : revision + 1;
    listener({ revision, event });
  };
}

/** Computed once for each configuration, since there may be many events and keys. */
function sightOfLatest(person: Person, config: () => Config): () => Sight {
  let known: { config: Config; sight: Sight } | null = null;
  return () => {
    const latest = config();
    if (known?.config !== latest) known = { config: latest, sight: sightOf(person, latest) };
    return known.sight;
  };
}
