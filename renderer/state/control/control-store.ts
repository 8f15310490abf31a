/**
 * The only store of the window: holds the state built from the engine's events, and sends commands to the engine. It
 * never updates optimistically: a change appears when the engine's event confirms it.
 */

import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import type { CommandInputMap, CommandResults, CommandType } from '../../../server/contract/commands.ts';
import { maxReported } from '../../../server/contract/find.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import { type Connection, type ControlApi, ControlError } from '../api/api.ts';
import { type ControlState, initialState, withEvent } from './control-state.ts';

export interface ControlStore {
  state(): ControlState;
  /** Calls back on changes; changes in quick succession are combined. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  /** Resolves once the state shows the effect of the command. Rejects with a `ControlError`. */
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  /** Queries data that is not part of the state. Rejects with a `ControlError`. */
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  findById: FindById;
  /** Asks the engine again at once. */
  reconnect(): void;
  /** Asks for everything that is shown again. */
  reload(): void;
}

/** `nextFrame`: calls back when it is time to draw. */
export function createControlStore(
  api: ControlApi,
  nextFrame: (callback: () => void) => void = onNextFrame,
): ControlStore {
  let state = initialState;
  let isScheduled = false;
  const listeners = new Set<() => void>();
  const waiting = new Set<{ revision: number; resolve: () => void }>();

  const notify = () => {
    isScheduled = false;
    for (const listener of listeners) listener();
  };
  const set = (next: ControlState) => {
    state = next;
    for (const wait of waiting) {
      if (!shows(wait.revision)) continue;
      waiting.delete(wait);
      wait.resolve();
    }
    if (!isScheduled) nextFrame(notify);
    isScheduled = true;
  };
  // Without a connection no event will come, although the command was carried out.
  const shows = (revision: number) =>
    state.connection !== 'open' || (state.views !== null && state.views.status.revision >= revision);

  const subscription = api.subscribe({
    onEvent: (event) => set(withEvent(state, event)),
    onConnection: (connection: Connection) => set({ ...state, connection }),
  });

  const query = <T extends QueryType>(question: QueryInputMap[T] & { type: T }) =>
    api.query<T>(question).catch(throwQueryError);

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }) {
      const result = await api.execute<T>(command);
      const revision = 'revision' in result ? result.revision : 0;
      if (!shows(revision)) await new Promise<void>((resolve) => waiting.add({ revision, resolve }));
      return result;
    },
    query,
    findById: createFindById(query),
    reconnect: subscription.retry,
    reload() {
      set({ ...state, reloadCount: state.reloadCount + 1 });
      subscription.retry();
    },
  };
}

/** Replaces `unreachable`, whose text says that nothing was changed. A query changes nothing anyway. */
function throwQueryError(error: unknown): never {
  if (error instanceof ControlError && error.code === 'unreachable')
    throw new ControlError('unanswered', error.message);
  throw error;
}

/** Short enough to look live. Under a flood of events, it leaves nine frames in ten to scrolling and typing. */
const shortestPauseMs = 150;
let lastFrameAt = Number.NEGATIVE_INFINITY;

/** Calls back in the next frame, or later if something was drawn a moment ago. */
export function onNextFrame(callback: () => void): void {
  const draw = () =>
    requestAnimationFrame((now) => {
      lastFrameAt = now;
      callback();
    });
  const pauseMs = lastFrameAt + shortestPauseMs - performance.now();
  if (pauseMs > 0) setTimeout(draw, pauseMs);
  else draw();
}

/** The kinds of entries of which there may be very many. */
export type Kind = 'key' | 'group';

export interface ViewOf {
  key: KeyView;
  group: GroupView;
}

export interface FindQuestion extends Omit<QueryInputMap['find-keys'], 'type'> {}

/** Resolves with null if it does not exist. Rejects with a `ControlError`. */
type FindById = <K extends Kind>(kind: K, id: string) => Promise<ViewOf[K] | null>;

interface Round {
  ids: Set<string>;
  answer: Promise<{ found: { id: string }[] }>;
}

/** Combines all calls in the same turn of the event loop into one query. */
export function createFindById(query: ControlApi['query']): FindById {
  const open = new Map<Kind, Round>();
  const begin = (kind: Kind): Round => {
    const ids = new Set<string>();
    const round: Round = {
      ids,
      answer: Promise.resolve().then((): Round['answer'] => {
        if (open.get(kind) === round) open.delete(kind);
        const question = { ids: [...ids], limit: maxReported };
        return kind === 'key' ? query({ type: 'find-keys', ...question }) : query({ type: 'find-groups', ...question });
      }),
    };
    open.set(kind, round);
    return round;
  };
  return async <K extends Kind>(kind: K, id: string) => {
    const last = open.get(kind);
    const round = last && last.ids.size < maxReported ? last : begin(kind);
    round.ids.add(id);
    const { found } = await round.answer;
    // Safe: the query is that of the kind.
    return (found.find((view) => view.id === id) ?? null) as ViewOf[K] | null;
  };
}
