/** Keeps the state that the tray shows, from the engine's events and from today's usage. */
import { localCalendar, localZone } from '../server/contract/calendar.ts';
import { isFailed } from '../server/contract/count.ts';
import type { ConfigViews, ControlEvent } from '../server/contract/events.ts';
import type { RequestRecord } from '../server/contract/ledger.ts';
import { conditionFacts } from '../server/contract/provider-condition.ts';
import type { QueryInput } from '../server/contract/queries.ts';
import type { UsageView } from '../server/contract/request-views.ts';
import type { Gateway } from '../server/engine/gateway.ts';
import { after } from '../server/ground/timers.ts';
import type { EngineHost } from './engine-host.ts';
import type { TrayProvider, TrayStatus } from './tray-menu.ts';

type EngineFacts = Pick<TrayStatus, 'engine' | 'providers' | 'defaultGroup' | 'keys' | 'today' | 'lastError'>;

interface EngineWatch {
  readonly facts: EngineFacts;
  /** Counts today's usage again, for example after sleep, when the day may have changed. */
  recount(): void;
}

/** The part of the gateway that the watch uses. */
export interface WatchedGateway extends Pick<Gateway, 'onEvent'> {
  query(query: Extract<QueryInput, { type: 'usage' }>): Promise<UsageView[]>;
}

interface EngineWatchPorts {
  host: Pick<EngineHost, 'state' | 'onChange'> & { readonly gateway: WatchedGateway | null };
  onChange(): void;
  /** Called for every event, including the snapshot that follows each start. */
  onEvent(event: ControlEvent): void;
}

/** The part of a snapshot that is kept. */
type Views = Omit<ConfigViews, 'status' | 'aliases'>;

/** Shortest interval between two counts, since many requests may end within a second. */
const countEveryMs = 1_000;

export function watchEngine({ host, onChange, onEvent }: EngineWatchPorts): EngineWatch {
  let views: Views | null = null;
  let today: TrayStatus['today'] = null;
  let lastError: TrayStatus['lastError'] = null;
  let unsubscribe = () => {};
  let timer: NodeJS.Timeout | undefined;
  let midnight: NodeJS.Timeout | undefined;
  let cooled: NodeJS.Timeout | undefined;

  const clearTimers = () => {
    clearTimeout(timer);
    clearTimeout(midnight);
    timer = undefined;
  };
  /** The end of a cooldown is no event. */
  const awaitCooldowns = () => {
    clearTimeout(cooled);
    const nowMs = Date.now();
    const ends = views?.providers.flatMap(({ health: { until } }) => (until !== null && until > nowMs ? [until] : []));
    if (!ends?.length) return;
    cooled = after(
      () => {
        onChange();
        awaitCooldowns();
      },
      Math.min(...ends) - nowMs + 1,
    ).unref();
  };
  const countUsage = async () => {
    clearTimers();
    midnight = after(countUsage, msToMidnight());
    const rows = await host.gateway?.query({ type: 'usage', by: 'day', ...sinceMidnight() }).catch(() => []);
    if (!rows) return;
    // At most one row, unless midnight passes during the query.
    const latest = rows.at(-1);
    today = {
      requests: latest?.requests ?? 0,
      tokens: (latest?.inputTokens ?? 0) + (latest?.outputTokens ?? 0),
      costUsd: latest ? latest.costUsd : 0,
    };
    onChange();
  };
  const handleEvent = (event: ControlEvent) => {
    if (event.type === 'snapshot') views = event;
    else if (views) views = withEvent(views, event);
    if (event.type === 'snapshot' || event.type === 'provider-changed') awaitCooldowns();
    if (event.type === 'request-finished') {
      lastError = describeError(event.request) ?? lastError;
      timer ??= after(countUsage, countEveryMs);
    }
    onEvent(event);
    if (event.type !== 'request-started' && event.type !== 'ledger-health') onChange();
  };
  host.onChange(({ kind }) => {
    unsubscribe();
    unsubscribe = () => {};
    clearTimers();
    views = null;
    awaitCooldowns();
    if (kind === 'serving') {
      unsubscribe = host.gateway?.onEvent(({ event }) => handleEvent(event)) ?? unsubscribe;
      void countUsage();
    }
    onChange();
  });
  return {
    get facts() {
      return {
        engine: host.state,
        providers: views?.providers.map(toTrayProvider) ?? [],
        defaultGroup: toTrayGroup(views?.groups.find(({ id }) => id === 'default')),
        keys: views?.keys.filter((key) => key.canReveal).map(({ id, name }) => ({ id, name: name ?? id })) ?? [],
        today,
        lastError,
      };
    },
    recount() {
      if (host.state.kind === 'serving') void countUsage();
    },
  };
}

function withEvent(views: Views, event: ControlEvent): Views {
  if (event.type === 'config-changed') return { ...views, ...event };
  if (event.type !== 'provider-changed') return views;
  const { provider } = event;
  return { ...views, providers: views.providers.map((old) => (old.id === provider.id ? provider : old)) };
}

/** Leaves out the current usage of the limits, which would redraw the menu constantly. */
function toTrayGroup(group: ConfigViews['groups'][number] | undefined): TrayStatus['defaultGroup'] {
  return group ? { models: group.models, policy: group.policy, limits: group.limits } : null;
}

function toTrayProvider(provider: ConfigViews['providers'][number]): TrayProvider {
  const { id, name, isDemo, enabled } = provider;
  return { id, name, isDemo, enabled, facts: conditionFacts(provider, Date.now()) };
}

function describeError(request: RequestRecord): TrayStatus['lastError'] {
  if (!isFailed(request)) return null;
  const { id, outcome, errorCode, status, modelAsked, route } = request;
  return { requestId: id, summary: `${modelAsked ?? route}: ${errorCode ?? status ?? outcome}` };
}

function msToMidnight(): number {
  const now = Date.now();
  return localCalendar().periodOf('day', now).endMs - now;
}

function sinceMidnight() {
  return { sinceMs: localCalendar().periodOf('day', Date.now()).startMs, zone: localZone() };
}
