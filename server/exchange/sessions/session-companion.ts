import { isWireName } from '../../apis/translation/translation-registry.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { SessionTracker } from './session-tracker.ts';

/** Finds the session that a request belongs to, and refuses it if that was stopped or has spent its budget. */
export class SessionCompanion implements Companion {
  readonly #tracker: SessionTracker;

  constructor(tracker: SessionTracker) {
    this.#tracker = tracker;
  }

  admitted(admitted: AdmittedRequest): Visit | null {
    const { request, match, snapshot } = admitted;
    if (match === null || request.method !== 'POST' || snapshot.settings.sessions === 'off') return null;
    return new SessionVisit(this.#tracker, admitted);
  }
}

class SessionVisit implements Visit {
  readonly #tracker: SessionTracker;
  readonly #request: AdmittedRequest;

  constructor(tracker: SessionTracker, request: AdmittedRequest) {
    this.#tracker = tracker;
    this.#request = request;
  }

  /** Throws GatewayError `session_stopped` or `session_budget_spent`. */
  received({ match: { route }, body }: ReceivedCall): false {
    const { request, snapshot, trace, member } = this.#request;
    const { sessions: grouped, sessionBudget } = snapshot.settings;
    const mark = this.#tracker.markFor({
      requestId: trace.id,
      startedAt: trace.startedAt,
      keyId: member.key.id,
      headers: request.headers,
      body,
      secrets: trace.secrets,
      previousResponseId: body.fields.previousResponseId,
      isByConversation: grouped === 'all',
      format: isWireName(route.wire.name) && !route.isFree ? route.wire.request : null,
    });
    trace.session = mark;
    this.#tracker.check(mark, sessionBudget);
    return false;
  }

  answered(): void {
    const { session, createdJob } = this.#request.trace;
    if (session === null) return;
    session.hasEnded = true;
    if (createdJob?.kind === 'response') this.#tracker.stored(session, createdJob.keyId ?? '', createdJob.id);
  }
}
