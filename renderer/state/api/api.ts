/**
 * The window's requests to the engine, independent of the transport (`create-api.ts`): HTTP in a browser, IPC on the
 * desktop. Knows the contract but no screens.
 */
import type { CommandInputMap, CommandResults, CommandType } from '../../../server/contract/commands.ts';
import type { ControlProblem } from '../../../server/contract/control-problem.ts';
import type { ErrorBody } from '../../../server/contract/errors.ts';
import type { ControlEvent } from '../../../server/contract/events.ts';
import type { DesktopView, IpcArgument, IpcCallName, IpcResult, WindowAct } from '../../../server/contract/ipc.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';

export interface ControlApi {
  /** Rejects with a `ControlError`. */
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  /** Rejects with a `ControlError`. */
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  /** Begins with a snapshot, followed by changes. A new snapshot follows each interruption. */
  subscribe(listener: ControlListener): Subscription;
}

/** Calls that only the desktop supports; absent in a browser. */
export interface DesktopApi {
  /** Rejects with a `ControlError`. */
  call<Name extends DesktopCallName>(name: Name, argument: IpcArgument<Name>): Promise<IpcResult<Name>>;
  /** Returns the unsubscribe function. */
  onChange(listener: (desktop: DesktopView) => void): () => void;
  /** Calls back when the menu asks for something. Returns the unsubscribe function. */
  onAct(listener: (act: WindowAct) => void): () => void;
  /** Calls back when something is ready for `takeOpened`. Returns the unsubscribe function. */
  onOpened(listener: () => void): () => void;
}

export type DesktopCallName = Exclude<IpcCallName, keyof ControlApi | 'unsubscribe'>;

export interface ControlListener {
  onEvent(event: ControlEvent): void;
  onConnection(connection: Connection): void;
}

export interface Subscription {
  /** Reconnects at once instead of after the pause. */
  retry(): void;
  stop(): void;
}

/**
 * `connecting`: no answer yet. `open`: the state is up to date. `lost`: the engine does not answer; reconnecting
 * continues. `signed-out`: the engine answers, but rejects this window; reconnects only on `retry`.
 */
export type Connection = 'connecting' | 'open' | 'lost' | 'signed-out';

/** The reason why the engine did not carry out a call. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  /** The engine's error code. If it did not answer: `unanswered` for a query, `unreachable` for anything else. */
  readonly code: string | null;
  /** The problem, which the window words in its own language; null if it has no text for it. */
  readonly problem: ControlProblem | null;

  constructor(code: string | null, message: string, problem: ControlProblem | null = null) {
    super(message);
    this.code = code;
    this.problem = problem;
  }
}

/** The error that the engine returned in place of a result. */
export function controlErrorOf({ code, message, problem }: ErrorBody): ControlError {
  return new ControlError(code, message, problem ?? null);
}

/** A thrown value in the form that the window shows. */
export function asControlError(error: unknown): ControlError {
  return error instanceof ControlError ? error : new ControlError(null, String(error));
}
