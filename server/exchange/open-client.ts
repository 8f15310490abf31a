import type { ServerResponse } from 'node:http';
import type { Settings } from '../contract/settings.ts';
import { framingOf } from '../wire/sse-framing.ts';
import { ClientResponse, unreadMs } from './client-response.ts';
import type { FaultInjector } from './faults/fault-injector.ts';
import type { OutgoingCall } from './outgoing-call.ts';
import type { ResponseTap } from './response-tap.ts';

interface OpenClientOptions {
  response: ServerResponse;
  settings: Settings;
  trace: { id: string };
  tap: ResponseTap | null;
  faultInjector: FaultInjector | null;
}

/** The response to a request's client. */
export function openClient(
  { response, settings, trace, tap, faultInjector }: OpenClientOptions,
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
    faultInjector,
  });
}
