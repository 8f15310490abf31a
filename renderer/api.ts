/**
 * What the window asks of the engine, whatever carries it: HTTP in a browser (`http-api.ts`), IPC on the desktop. Knows the
 * contract and nothing of screens.
 */
import type { CommandInputMap, CommandResults, CommandType } from '../server/contract/commands.ts';
import type { ControlProblem } from '../server/contract/control-problem.ts';
import type { ErrorBody } from '../server/contract/errors.ts';
import type { ControlEvent } from '../server/contract/events.ts';
import type { DesktopView, IpcArgument, IpcCallName, IpcResult } from '../server/contract/ipc.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../server/contract/queries.ts';

export interface ControlApi {
  /** Rejects with a `ControlError`. */
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  /** Rejects with a `ControlError`. */
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  /** A snapshot, then what changes; after every interruption a snapshot again. */
  subscribe(listener: ControlListener): Subscription;
}

/** What only the desktop can do; in a browser there is none of it. */
export interface DesktopApi {
  /** Rejects with a `ControlError`. */
  call<Name extends DesktopCallName>(name: Name, argument: IpcArgument<Name>): Promise<IpcResult<Name>>;
  /** Returns what ends it. */
  onChange(listener: (desktop: DesktopView) => void): () => void;
  /** Something was handed over that `takeOpenedPreset` gives. Returns what ends it. */
  onPresetOpened(listener: () => void): () => void;
}

export type DesktopCallName = Exclude<IpcCallName, keyof ControlApi | 'unsubscribe'>;

export interface ControlListener {
  onEvent(event: ControlEvent): void;
  onConnection(connection: Connection): void;
}

export interface Subscription {
  /** Tries at once instead of after the pause. */
  retry(): void;
  stop(): void;
}

/**
 * `connecting`: no answer yet. `open`: what is shown is what is. `lost`: the engine does not answer; it is asked again and
 * again. `signed-out`: it answers, but not to us; it is asked again on `retry` only.
 */
export type Connection = 'connecting' | 'open' | 'lost' | 'signed-out';

/** Why the engine did not do what was asked. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  /** The engine's error code; `unreachable` if it did not answer, `unanswered` if that was a question. */
  readonly code: string | null;
  /** What the window says in its own language; null where it has no words of its own for it. */
  readonly problem: ControlProblem | null;

  constructor(code: string | null, message: string, problem: ControlProblem | null = null) {
    super(message);
    this.code = code;
    this.problem = problem;
  }
}

/** What the engine replied in place of a result. */
export function controlErrorOf({ code, message, problem }: ErrorBody): ControlError {
  return new ControlError(code, message, problem ?? null);
}

/** What was thrown, as the window shows it. */
export function asControlError(error: unknown): ControlError {
  return error instanceof ControlError ? error : new ControlError(null, String(error));
}
