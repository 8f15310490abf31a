import type { CommandInputMap, CommandResults, CommandType } from '../contract/commands.ts';
import type { EventMessage } from '../contract/events.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../contract/queries.ts';

/** The control plane as commands use it: that of a running Sluice, or of an engine opened on the data folder. */
export interface Control {
  /**
   * The origin at which this command reaches the running Sluice; null if none is running. What clients are given is the
   * status's `baseUrl`.
   */
  readonly origin: string | null;
  /** Rejects with a GatewayError. */
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  /** Subscribes to events until the running Sluice ends. Rejects if none is running. */
  openEvents(): Promise<AsyncIterable<EventMessage>>;
  close(): Promise<void>;
}

/** The control plane of a Sluice that is listening. */
export interface ListeningControl extends Control {
  readonly origin: string;
}
