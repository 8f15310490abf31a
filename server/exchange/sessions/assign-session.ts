import type { IncomingMessage } from 'node:http';
import type { Snapshot } from '../../routing/snapshot.ts';
import { isWireName } from '../../translate/wire-translations.ts';
import type { Route } from '../../wire/route.ts';
import type { RequestTrace } from '../exchange-trace.ts';
import type { RequestBody } from '../request-body.ts';
import type { SessionTracker } from './session-tracker.ts';

interface Arrived {
  request: IncomingMessage;
  snapshot: Snapshot;
  trace: RequestTrace;
}

interface Asked {
  route: Route;
  keyId: string;
  body: RequestBody;
}

/** Marks the request with its session, if it has one. Throws GatewayError `session_stopped` or `session_budget_spent`. */
export function assignSession(book: SessionTracker, { request, snapshot, trace }: Arrived, asked: Asked): void {
  const { sessions: grouped, sessionBudget } = snapshot.settings;
  if (grouped === 'off' || request.method !== 'POST') return;
  const { route, keyId, body } = asked;
  const mark = book.markFor({
    requestId: trace.id,
    startedAt: trace.startedAt,
    keyId,
    headers: request.headers,
    body,
    presented: trace.presented,
    previousResponseId: body.fields.previousResponseId,
    isByConversation: grouped === 'all',
    format: isWireName(route.wire.name) && !route.isFree ? route.wire.request : null,
  });
  trace.session = mark;
  book.check(mark, sessionBudget);
}
