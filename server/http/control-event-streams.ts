import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { EventMessage } from '../contract/events.ts';

interface EventStreams {
  /** Sends every event as it comes, until the reader leaves. */
  open(response: ServerResponse): void;
  /** Ends all of them, and refuses new ones. */
  close(): void;
}

const heartbeatMs = 15_000;
/** A reader that is so far behind is cut off; it begins anew with a snapshot. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Server-sent events: `id` is the revision, `data` the message as JSON. */
export function createEventStreams(onEvent: (listener: (message: EventMessage) => void) => () => void): EventStreams {
  const open = new Set<ServerResponse>();
  let isClosed = false;
  return {
    open(response) {
      if (isClosed) throw new GatewayError('shutting_down', 'Sluice is being stopped.');
      open.add(response);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.flushHeaders();
      const send = (text: string) => {
        if (response.writableEnded) return;
        response.write(text);
        if (response.writableLength > maxUnreadBytes) response.destroy();
      };
      const unsubscribe = onEvent((message) => send(`id: ${message.revision}\ndata: ${JSON.stringify(message)}\n\n`));
      const heartbeat = setInterval(() => send(':\n\n'), heartbeatMs);
      response.once('close', () => {
        unsubscribe();
        clearInterval(heartbeat);
        open.delete(response);
      });
    },
    close() {
      isClosed = true;
      for (const response of open) response.end();
    },
  };
}
