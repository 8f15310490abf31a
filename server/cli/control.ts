import type { CommandInputMap, CommandResults, CommandType } from '../contract/commands.ts';
import type { EventMessage } from '../contract/events.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../contract/queries.ts';

/** The control plane as the verbs use it, whether a running Sluice answers or the data folder itself. */
export interface Control {
  /** Where the running Sluice listens; null if none runs. */
  readonly origin: string | null;
  /** Rejects with a GatewayError that says why not. */
  execute<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T]>;
  query<T extends QueryType>(query: QueryInputMap[T] & { type: T }): Promise<QueryResults[T]>;
  /** Resolves once events are heard; they go on until the running Sluice ends. Rejects if none runs. */
  openEvents(): Promise<AsyncIterable<EventMessage>>;
  close(): Promise<void>;
}
