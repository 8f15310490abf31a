/** The control API over the engine's `/control` routes. The browser adds the session cookie. */
import type { CommandInputMap, CommandResults, CommandType, ControlReply } from '../../../server/contract/commands.ts';
import type { EventMessage } from '../../../server/contract/events.ts';
import type { QueryInputMap, QueryResults, QueryType } from '../../../server/contract/queries.ts';
import { type ControlApi, ControlError, type ControlListener, controlErrorOf, type Subscription } from './api.ts';

/** The first pause is short because in most cases the engine has only restarted. */
const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** `origin`: the engine's; empty for the origin of the page. */
export function createHttpApi(origin = ''): ControlApi {
  return {
    execute: <T extends CommandType>(command: CommandInputMap[T] & { type: T }) =>
      post<CommandResults[T]>(`${origin}/control/execute`, command),
    query: <T extends QueryType>(query: QueryInputMap[T] & { type: T }) =>
      post<QueryResults[T]>(`${origin}/control/query`, query),
    subscribe: (listener) => subscribe(`${origin}/control/events`, listener),
  };
}

async function post<Result>(url: string, body: object): Promise<Result> {
  const reply = await send<Result>(url, JSON.stringify(body));
  if ('error' in reply) throw controlErrorOf(reply.error);
  return reply.result;
}

async function send<Result>(url: string, body: string): Promise<ControlReply<Result>> {
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return await response.json();
  } catch (error) {
    throw new ControlError('unreachable', error instanceof Error ? error.message : String(error));
  }
}

function subscribe(url: string, listener: ControlListener): Subscription {
  const stopped = new AbortController();
  let endPause = () => {};
  const pause = (durationMs: number | null) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    endPause = resolve;
    const timer = durationMs === null ? undefined : setTimeout(resolve, durationMs);
    return promise.finally(() => clearTimeout(timer));
  };
  const readUntilStopped = async () => {
    for (let failures = 0; !stopped.signal.aborted; failures++) {
      const end = await readStream(url, stopped.signal, listener);
      if (stopped.signal.aborted) return;
      if (end === 'interrupted') failures = 0;
      listener.onConnection(end === 'signed-out' ? 'signed-out' : 'lost');
      await pause(end === 'signed-out' ? null : Math.min(firstPauseMs * 2 ** failures, longestPauseMs));
    }
  };
  void readUntilStopped();
  return {
    retry: () => endPause(),
    stop() {
      stopped.abort();
      endPause();
    },
  };
}

type StreamEnd = 'signed-out' | 'unreachable' | 'interrupted';

/** Reads one connection until it ends. `interrupted`: at least one message had arrived. */
async function readStream(url: string, signal: AbortSignal, listener: ControlListener): Promise<StreamEnd> {
  let revision: number | null = null;
  try {
    const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' }, cache: 'no-store' });
    if (response.status === 401 || response.status === 403) return 'signed-out';
    if (!response.ok || !response.body) return 'unreachable';
    for await (const message of readEventMessages(response.body)) {
      // A gap means that a message was missed; a new connection begins with a snapshot.
      if (revision !== null && message.revision !== revision + 1) break;
      if (revision === null) listener.onConnection('open');
      revision = message.revision;
      listener.onEvent(message.event);
    }
  } catch {
    // Whatever the cause, the caller reconnects.
  }
  return revision === null ? 'unreachable' : 'interrupted';
}

/**
 * Reads the messages of an event stream (`text/event-stream`) in which each event is one `data:` line of JSON, as the
 * engine writes it. Skips comments and other fields.
 */
async function* readEventMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<EventMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of pieces(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      // The window is served by the same engine that writes this stream, so the shape matches the contract.
      if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as EventMessage;
    }
  }
}

/** Uses a reader because not every browser can iterate over a stream. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
