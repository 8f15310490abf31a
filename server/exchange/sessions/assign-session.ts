import type { IncomingMessage } from 'node:http';
import type { Route } from '../../apis/core/route.ts';
import { isWireName } from '../../apis/translation/translation-registry.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { RequestBody } from '../request/request-body.ts';
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
export function assignSession(tracker: SessionTracker, { request, snapshot, trace }: Arrived, facts: Asked): void {
  const { sessions: grouped, sessionBudget } = snapshot.settings;
  if (grouped === 'off' || request.method !== 'POST') return;
  const { route, keyId, body } = facts;
  const mark = tracker.markFor({
    requestId: trace.id,
    startedAt: trace.startedAt,
    keyId,
    headers: request.headers,
    body,
    secrets: trace.secrets,
    previousResponseId: body.fields.previousResponseId,
    isByConversation: grouped === 'all',
    format: isWireName(route.wire.name) && !route.isFree ? route.wire.request : null,
  });
  trace.session = mark;
  tracker.check(mark, sessionBudget);
}
