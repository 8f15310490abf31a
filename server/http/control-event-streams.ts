import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { EventMessage } from '../contract/events.ts';
import type { Caller } from '../control/people/caller.ts';
import { every } from '../ground/timers.ts';

interface EventStreams {
  /** Sends events until the client disconnects or loses access; with `by`, only those that this person may see. */
  open(response: ServerResponse, mayRead: () => boolean, by?: Caller): void;
  /** Ends the streams of clients that have lost access. */
  endRefused(): void;
  /** Ends all streams and refuses new ones. */
  close(): void;
}

const heartbeatMs = 15_000;
/** A client with more unread bytes is disconnected; it reconnects and gets a snapshot. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Server-sent events: `id` is the revision, `data` the message as JSON. */
export function createEventStreams(
  onEvent: (listener: (message: EventMessage) => void, by?: Caller) => () => void,
): EventStreams {
  const streams = new Map<ServerResponse, () => boolean>();
  let isClosed = false;
  return {
    open(response, mayReceive, by) {
      if (isClosed) throw new GatewayError('shutting_down', 'Sluice is being stopped.');
      // The client disconnected while its sign-in was being checked, so `close` was emitted before.
      if (response.destroyed) return;
      streams.set(response, mayReceive);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.flushHeaders();
      const send = (text: string) => {
        if (response.writableEnded) return;
        // Checked before writing, because a single message, such as the snapshot of many groups, may be larger.
        if (response.writableLength > maxUnreadBytes) response.destroy();
        else response.write(text);
      };
      const unsubscribe = onEvent(
        (message) => send(`id: ${message.revision}\ndata: ${JSON.stringify(message)}\n\n`),
        by,
      );
      const heartbeat = every(() => {
        if (mayReceive()) send(':\n\n');
        else response.end();
      }, heartbeatMs);
      response.once('close', () => {
        unsubscribe();
        clearInterval(heartbeat);
        streams.delete(response);
      });
    },
    endRefused() {
      for (const [response, mayReceive] of streams) if (!mayReceive()) response.end();
    },
    close() {
      isClosed = true;
      for (const response of streams.keys()) response.end();
    },
  };
}
