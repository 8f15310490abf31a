/** Filters the events for each listener: what a person may see, and what a window keeps. */
import type { Config } from '../contract/config.ts';
import type { Person } from '../contract/people.ts';
import { type ReportedViews, visibleEvent, withReportedLimits } from '../team/people/event-rules.ts';
import { type Visibility, visibilityOf } from '../team/people/visibility.ts';
import type { EventListener } from './event-hub.ts';

interface EventSources {
  config(): Config;
  reported: ReportedViews;
}

/** @param person null for the administrator of this machine */
export function listenerFor(person: Person | null, sources: EventSources, listener: EventListener): EventListener {
  if (person && !person.isAdmin) return restrictedListener(person, sources, listener);
  const toAdministrator: EventListener = ({ revision, event }) =>
    listener({ revision, event: withReportedLimits(event, sources.config()) });
  return person ? restrictedListener(person, sources, toAdministrator) : toAdministrator;
}

/** Renumbers the events, because a gap would look like a lost event. */
function restrictedListener(
  person: Person,
  { config, reported }: EventSources,
  listener: EventListener,
): EventListener {
  const visibility = latestVisibility(person, config);
  let revision: number | null = null;
  return (message) => {
    const event = visibleEvent(message.event, visibility(), reported);
    if (!event) return;
    revision = revision === null ? message.revision : revision + 1;
    listener({ revision, event });
  };
}

/** Computed once per configuration, because there may be many events and keys. */
function latestVisibility(person: Person, config: () => Config): () => Visibility {
  let cached: { config: Config; visibility: Visibility } | null = null;
  return () => {
    const latest = config();
    if (cached?.config !== latest) cached = { config: latest, visibility: visibilityOf(person, latest) };
    return cached.visibility;
  };
}
