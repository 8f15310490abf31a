import { type buildConnector, Client, type Dispatcher } from 'undici';
import { Connection } from './connection.ts';
import { type Line, UndiciCall } from './undici-call.ts';

/** One client of a pool, whose calls know its connection. */
class WatchedClient extends Client {
  readonly #line: Line;

  constructor(origin: URL, options: Client.Options, line: Line) {
    super(origin, options);
    this.#line = line;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof UndiciCall) handler.runsOn(this.#line);
    return super.dispatch(options, handler);
  }
}

export function openClient(origin: URL, connector: buildConnector.connector, options: Client.Options): Client {
  const line: Line = { connection: null };
  const connect: buildConnector.connector = (target, callback) =>
    connector(target, (...[error, socket]) => {
      if (error === null) {
        line.connection = new Connection(socket);
        callback(null, socket);
      } else callback(error, null);
    });
  return new WatchedClient(origin, { ...options, connect }, line);
}
