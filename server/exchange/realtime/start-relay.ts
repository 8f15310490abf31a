import type { WebSocket } from 'ws';
import type { SessionFormat } from '../../apis/core/session-format.ts';
import { GatewayError } from '../../contract/errors.ts';
import { createRequestId } from '../record/exchange-trace.ts';
import type { OpenSession } from './connect-upstream.ts';
import { type MessageWatch, SessionRelay } from './session-relay.ts';

interface Session {
  format: SessionFormat;
  client: WebSocket;
  upstream: OpenSession;
  watch: MessageWatch;
  reportError(error: unknown): void;
}

/** Starts relaying messages between client and upstream. */
export function startRelay({ format, client, upstream, watch, reportError }: Session): SessionRelay {
  const { notes, next, socket } = upstream;
  return new SessionRelay({
    client,
    upstream: socket,
    watch,
    writeError(error, causedBy) {
      return format.writeErrorEvent(error.toBody().error, `event_${createRequestId()}`, causedBy);
    },
    upstreamDisconnected() {
      const message = `Provider "${next.target.provider.name}" disconnected during the session.`;
      return new GatewayError('upstream_stream_broken', message);
    },
    redacted: (text) => notes.redacted(text),
    reportError,
  });
}
