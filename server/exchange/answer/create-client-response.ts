import type { ServerResponse } from 'node:http';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ClientResponseTap } from '../record/client-response-tap.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import { ClientResponse, type ResponseOutlet, unreadMs } from './client-response.ts';

interface OpenClientOptions {
  response: ServerResponse;
  settings: Settings;
  trace: { id: string };
  tap: ClientResponseTap | null;
  outlet: ResponseOutlet | null;
}

/** The response to a request's client. */
export function createClientResponse(
  { response, settings, trace, tap, outlet }: OpenClientOptions,
  { match }: Pick<OutgoingCall, 'match'>,
): ClientResponse {
  return new ClientResponse({
    response,
    requestId: trace.id,
    framing: framingOf(match.route),
    keepAliveMs: settings.keepAliveCommentMs,
    unreadMs,
    showsAttempts: settings.replyHeaders,
    tap,
    outlet,
  });
}
