/** What the panel knows: the engine's answer to the query `panel`, asked again while the panel is in sight. */
import { localCalendar, localZone } from '../../server/contract/calendar.ts';
import type { CommandInput, CommandResult } from '../../server/contract/commands.ts';
import type { ControlEvent } from '../../server/contract/events.ts';
import type { PanelView } from '../../server/contract/panel-view.ts';
import { asControlError, type Connection, type ControlApi, type ControlError } from '../state/api/api.ts';

export interface PanelState {
  /** The last answer; null before the first. */
  view: PanelView | null;
  connection: Connection;
  /** Why the last question was not answered; null if it was. */
  problem: ControlError | null;
}

export interface PanelStore {
  state(): PanelState;
  /** Calls back on changes. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  /** Asks once, so that something is known before the panel is shown. */
  prepare(): void;
  /** Whether the panel is in sight. Out of sight it asks nothing and listens to nothing, but keeps what it knows. */
  show(isShown: boolean): void;
  /** Resolves once the state shows the effect of the command. Rejects with a `ControlError`. */
  execute(command: CommandInput): Promise<CommandResult>;
  query: ControlApi['query'];
  /** Tries to connect at once. */
  reconnect(): void;
}

/** Long enough to combine a burst of requests into one question. */
const pauseMs = 400;
/** Figures also change with time: a day ends, a capture too. */
const longestPauseMs = 30_000;

/** These change nothing that the panel shows, or come with another event that does. Nothing is missed before a snapshot: the panel has just asked. */
const unseen: readonly ControlEvent['type'][] = [
  'refusals',
  'update-ready',
  'limit-reached',
  'session-budget-reached',
  'pin-changed',
];

export function createPanelStore(api: ControlApi): PanelStore {
  let state: PanelState = { view: null, connection: 'connecting', problem: null };
  const listeners = new Set<() => void>();
  const set = (next: Partial<PanelState>) => {
    state = { ...state, ...next };
    for (const listener of listeners) listener();
  };

  let newest = 0;
  const ask = async () => {
    newest += 1;
    const number = newest;
    const { startMs } = localCalendar().periodOf('day', Date.now());
    const answer = await api.query<'panel'>({ type: 'panel', sinceMs: startMs, zone: localZone() }).then(
      (view) => ({ view, problem: null, connection: 'open' as const }),
      (error: unknown) => ({ problem: asControlError(error) }),
    );
    // A later question has the later answer.
    if (number === newest) set(answer);
  };

  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setInterval> | undefined;
  let subscription: { stop(): void; retry(): void } | null = null;
  const askSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void ask();
    }, pauseMs);
  };
  let isShown = false;
  const begin = async () => {
    again = setInterval(askSoon, longestPauseMs);
    // Only then, because the connection begins with all that the window knows, which takes time from the figures.
    await ask();
    if (!isShown || subscription) return;
    subscription = api.subscribe({
      onEvent({ type }) {
        if (!unseen.includes(type)) askSoon();
      },
      onConnection: (connection) => set({ connection }),
    });
  };
  const end = () => {
    subscription?.stop();
    subscription = null;
    clearTimeout(timer);
    clearInterval(again);
    timer = undefined;
  };
  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    prepare: () => void ask(),
    show(next) {
      if (next === isShown) return;
      isShown = next;
      if (isShown) void begin();
      else end();
    },
    async execute(command) {
      const result = await api.execute(command);
      await ask();
      return result;
    },
    query: api.query,
    reconnect: () => subscription?.retry(),
  };
}
