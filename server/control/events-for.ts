/** Tells each listener what they may see of the events, and can use. */
import type { Config } from '../contract/config.ts';
import type { Person } from '../contract/people.ts';
import { keptEvent, limitsOfTold, type Told } from '../people/event-rules.ts';
import { type Sight, sightOf } from '../people/sight.ts';
import type { EventListener } from './event-hub.ts';

interface Known {
  config(): Config;
  told: Told;
}

/** `person`: null for the administrator of this machine. */
export function listenerFor(person: Person | null, known: Known, listener: EventListener): EventListener {
  if (person && !person.isAdmin) return listenerWithin(person, known, listener);
  const toAdministrator: EventListener = ({ revision, event }) =>
    listener({ revision, event: limitsOfTold(event, known.config()) });
  return person ? listenerWithin(person, known, toAdministrator) : toAdministrator;
}

/** Numbers the events anew, since one that is left out would look like one that was lost. */
function listenerWithin(person: Person, { config, told }: Known, listener: EventListener): EventListener {
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
