/** Sessions: which one a request belongs to, what it has spent of its budget, and whether it was stopped. */

import { hash } from 'node:crypto';
import {
  type ClientSession,
  cacheKeyIn,
  conversationIn,
  openingDigest,
  sessionInHeaders,
} from '../../apis/core/requests/client-session.ts';
import { toolResultsOf, turnStepOf, turnsIn } from '../../apis/core/requests/turn-step.ts';
import type { HeaderFields, RequestFormat, RequestView } from '../../apis/core/wire.ts';
import { isWireName } from '../../apis/translation/translation-registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord, RequestSession } from '../../contract/ledger.ts';
import type { SessionBudget } from '../../contract/limit-settings.ts';
import type { SessionBudgetReached } from '../../contract/session-views.ts';
import { LruMap } from '../../ground/collections.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { SessionMark } from '../record/exchange-trace.ts';
import { notedText } from '../redact/redact-credential.ts';

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

/** A request whose session is to be found. */
interface SessionLookup {
  requestId: string;
  /** Unix milliseconds. */
  startedAt: number;
  keyId: string;
  headers: HeaderFields;
  body: RequestView<string>;
  /** The keys that the client sent, which must not be stored. */
  secrets: readonly string[];
  /** The response that it continues. */
  previousResponseId: string | null;
  /** Conversations form sessions, too, even if the client names none. */
  isByConversation: boolean;
  /** Null if its body holds no conversation. */
  format: Pick<RequestFormat<string>, 'sessionOf'> | null;
}

interface Opening {
  first: SessionMark;
  step: RequestSession['step'];
  /** Messages in its longest request. */
  messages: number;
}

interface SessionTrackerPorts {
  sessionStates: SessionSpendingPorts & {
    /** Ids of the sessions that were stopped before. */
    stopped(): readonly string[];
    onChange?(listener: (id: string, isStopped: boolean) => void): void;
  };
  /** Called when a request that began without a session turns out to belong to one. */
  joined(joined: { requestId: string; startedAt: number; session: RequestSession; hasEnded: boolean }): void;
}

/** Conversations and responses that are remembered. */
const maxRemembered = 4_096;
const idLength = 16;
const threadLength = 8;
/** Of tools and sessions. APIs allow 64 or 128 characters for a tool's. */
const maxNameLength = 128;
const noTools: RequestSession['tools'] = [];

/**
 * Determines which session a request belongs to: by the name that the client sends, by the response that it continues,
 * or by the beginning of its conversation. A single request forms no session: the second one of a conversation makes it
 * one, and the first one joins it.
 *
 * Beginnings and responses are kept in memory only. After a restart, a session that the client does not name therefore
 * resumes only with its second request.
 */
export class SessionTracker {
  readonly #ports: SessionTrackerPorts;
  readonly #openings = new LruMap<Opening>(maxRemembered);
  readonly #responses = new LruMap<SessionMark>(maxRemembered);
  readonly #stopped: Set<string>;
  readonly #spending: SessionSpending;

  constructor(ports: SessionTrackerPorts) {
    this.#ports = ports;
    this.#stopped = new Set(ports.sessionStates.stopped());
    this.#spending = new SessionSpending(ports.sessionStates);
    ports.sessionStates.onChange?.(this.setStopped);
  }

  /** The mark of the request; its session is null until the request belongs to one. */
  markFor(question: SessionLookup): SessionMark {
    const mark: SessionMark = {
      requestId: question.requestId,
      startedAt: question.startedAt,
      session: null,
      hasEnded: false,
    };
    const clientSession = sessionInHeaders(question.headers) ?? this.#sessionNamedIn(question);
    if (clientSession) mark.session = sessionFor(question, clientSession);
    else if (question.format) this.#bySequence(question, mark);
    return mark;
  }

  /** A response was stored, which later requests may continue. */
  stored(mark: SessionMark, keyId: string, responseId: string): void {
    this.#responses.set(`${keyId}\n${responseId}`, mark);
  }

  /** @throws GatewayError `session_stopped` or `session_budget_spent` */
  check({ session }: SessionMark, budget: SessionBudget): void {
    if (session === null) return;
    if (this.#stopped.size > 0 && this.#stopped.has(session.id)) throw stoppedRefusal(session.id);
    this.#spending.check(session.id, budget);
  }

  /** Counts a request that has ended and is in the ledger. `budget`: the present one. */
  finished(record: RequestRecord, budget: SessionBudget): void {
    this.#spending.finished(record, budget);
  }

  onBudgetReached(listener: (notice: SessionBudgetReached) => void): void {
    this.#spending.onReached(listener);
  }

  /** Refuses the session's requests from now on, or serves them again. Bound, since it is passed as a listener. */
  readonly setStopped = (id: string, isStopped: boolean): void => {
    if (isStopped) this.#stopped.add(id);
    else this.#stopped.delete(id);
    this.#spending.forget(id);
  };

  #sessionNamedIn({ body, previousResponseId, keyId, format }: SessionLookup): ClientSession | null {
    const sessionName = format?.sessionOf?.(body) ?? conversationIn(body);
    if (sessionName !== null) return { name: sessionName, isForPeople: false, thread: null };
    if (previousResponseId !== null && this.#responses.has(`${keyId}\n${previousResponseId}`)) return null;
    const cacheKey = cacheKeyIn(body);
    return cacheKey === null ? null : { name: cacheKey, isForPeople: false, thread: null };
  }

  /** By the response that the request continues, or by how the conversation begins. */
  #bySequence(question: SessionLookup, mark: SessionMark): void {
    const { body, keyId, previousResponseId, isByConversation } = question;
    if (previousResponseId !== null) {
      const previous = this.#responses.get(`${keyId}\n${previousResponseId}`);
      if (!previous) return;
      this.#join(previous, {
        id: idOf(keyId, `response\n${previousResponseId}`),
        name: null,
        thread: null,
        step: 'prompt',
        tools: noTools,
      });
      mark.session = previous.session && { ...previous.session, ...turnOf(question) };
      return;
    }
    const digest = isByConversation ? openingDigest(body) : null;
    if (digest !== null) this.#byOpening(question, mark, digest);
  }

  #byOpening(question: SessionLookup, mark: SessionMark, digest: string): void {
    const { body, keyId } = question;
    const key = `${keyId}\n${digest}`;
    const messages = turnsIn(body)?.items ?? 0;
    const opening = this.#openings.get(key);
    if (!opening) {
      this.#openings.set(key, { first: mark, step: messages > 0 ? turnStepOf(body) : 'prompt', messages });
      return;
    }
    const thread = digest.slice(0, threadLength);
    // Equal requests, such as a repeated test, are not a conversation.
    if (opening.first.session === null && messages <= opening.messages) return;
    opening.messages = Math.max(opening.messages, messages);
    const id = opening.first.session?.id ?? idOf(keyId, `opening\n${digest}`);
    this.#join(opening.first, { id, name: null, thread, step: opening.step, tools: noTools });
    mark.session = { id, name: null, thread, ...turnOf(question) };
  }

  #join(mark: SessionMark, session: RequestSession): void {
    if (mark.session !== null) return;
    mark.session = session;
    this.#ports.joined({ ...mark, session });
  }
}

function stoppedRefusal(id: string): GatewayError {
  return new GatewayError(
    'session_stopped',
    `This session (${id}) was stopped in Sluice. Start a new one, or let it go on: in Sluice under Sessions, or with "sluice session resume ${id}".`,
  );
}

function sessionFor(question: SessionLookup, { name: clientName, isForPeople, thread }: ClientSession): RequestSession {
  const { keyId, body, format, secrets } = question;
  const id = idOf(keyId, clientName);
  const name = isForPeople ? notedText(clientName, secrets, maxNameLength) : null;
  if (!format) return { id, name, thread: null, step: null, tools: noTools };
  const threadDigest = thread === null ? openingDigest(body) : digestOf(thread);
  return { id, name, thread: threadDigest?.slice(0, threadLength) ?? null, ...turnOf(question) };
}

function turnOf({ body, secrets }: SessionLookup): Pick<RequestSession, 'step' | 'tools'> {
  const step = turnStepOf(body);
  if (step !== 'tools') return { step, tools: noTools };
  const tools = toolResultsOf(body).map((result) => ({
    ...result,
    name: result.name && notedText(result.name, secrets, maxNameLength),
  }));
  return { step, tools };
}

/** Includes the key, so that two keys never share a session even if their clients use the same name. */
function idOf(keyId: string, name: string): string {
  return `ses_${digestOf(`${keyId}\n${name}`).slice(0, idLength)}`;
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** As in `SessionStates`. */
interface SessionSpendingPorts {
  budgetUsedUsd(id: string): MaybePromise<number | null>;
}

interface Spent {
  usd: number;
  /** When to read it again, because other replicas count as well, on the monotonic clock; null: there are none. */
  staleAtMs: number | null;
  /** The highest amount that was reported, or that had been reached when the session was first read. */
  reportedUsd: number;
}

const staleAfterMs = 5_000;

/**
 * What sessions have spent of their budgets. Counted in memory; a session's amount is read from the ledger on first
 * use, so that it survives a restart.
 */
export class SessionSpending {
  readonly #ports: SessionSpendingPorts;
  readonly #spent = new LruMap<Spent>(maxRemembered);
  /** By session whose amount is being read for the first time: its requests that have ended meanwhile. */
  readonly #endedRecords = new Map<string, RequestRecord[]>();
  #onReached: (notice: SessionBudgetReached) => void = () => {};

  constructor(ports: SessionSpendingPorts) {
    this.#ports = ports;
  }

  onReached(listener: (notice: SessionBudgetReached) => void): void {
    this.#onReached = listener;
  }

  /**
   * Admits the next request of a session. While the ledger cannot be read, requests are served.
   *
   * @throws GatewayError `session_budget_spent`
   */
  check(sessionId: string, budget: SessionBudget): void {
    const { notifyAtUsd, stopAtUsd } = budget;
    if (notifyAtUsd === null && stopAtUsd === null) return;
    const spent = this.#spent.get(sessionId) ?? this.#read(sessionId, budget);
    if (!spent) return;
    if (spent.staleAtMs !== null && performance.now() >= spent.staleAtMs) this.#read(sessionId, budget);
    if (stopAtUsd !== null && spent.usd >= stopAtUsd) throw refusal(sessionId, spent.usd, stopAtUsd);
  }

  /** Counts a request that has ended and is in the ledger. `budget`: the present one. */
  finished(record: RequestRecord, budget: SessionBudget): void {
    const { session, costUsd, keyId, client } = record;
    if (session !== null) this.#endedRecords.get(session.id)?.push(record);
    const spent = session === null ? undefined : this.#spent.get(session.id);
    if (session === null || !spent || costUsd === null) return;
    spent.usd += costUsd;
    const reachedShare = highestReached(spent.usd, budget);
    if (!reachedShare || reachedShare.amountUsd <= spent.reportedUsd) return;
    spent.reportedUsd = reachedShare.amountUsd;
    this.#onReached({ ...reachedShare, sessionId: session.id, keyId, client, usedUsd: spent.usd });
  }

  /** Its amount is read from the ledger again when next needed. */
  forget(sessionId: string): void {
    this.#spent.delete(sessionId);
    this.#endedRecords.delete(sessionId);
  }

  /** Null if it cannot be read, or is still being read; the session's requests are served until then. */
  #read(sessionId: string, budget: SessionBudget): Spent | null {
    if (this.#endedRecords.has(sessionId)) return null;
    const usd = this.#ports.budgetUsedUsd(sessionId);
    if (usd instanceof Promise) void this.#readLater(sessionId, usd, budget);
    return usd === null || usd instanceof Promise ? null : this.#begin(sessionId, usd, budget);
  }

  async #readLater(sessionId: string, reading: Promise<number | null>, budget: SessionBudget): Promise<void> {
    const staleAtMs = performance.now() + staleAfterMs;
    const spent = this.#spent.get(sessionId);
    if (!spent) return this.#beginLater(sessionId, reading, { budget, staleAtMs });
    spent.staleAtMs = staleAtMs;
    // Requests of this replica may have ended meanwhile.
    spent.usd = Math.max(spent.usd, (await reading) ?? 0);
  }

  async #beginLater(
    sessionId: string,
    reading: Promise<number | null>,
    { budget, staleAtMs }: { budget: SessionBudget; staleAtMs: number },
  ): Promise<void> {
    const endedRecords: RequestRecord[] = [];
    this.#endedRecords.set(sessionId, endedRecords);
    const usd = await reading;
    // The session was forgotten in the meantime and starts again.
    if (this.#endedRecords.get(sessionId) !== endedRecords) return;
    this.#endedRecords.delete(sessionId);
    if (usd === null) return;
    this.#begin(sessionId, usd, budget).staleAtMs = staleAtMs;
    for (const record of endedRecords) this.finished(record, budget);
  }

  #begin(sessionId: string, usd: number, budget: SessionBudget): Spent {
    const spent = { usd, staleAtMs: null, reportedUsd: highestReached(usd, budget)?.amountUsd ?? 0 };
    this.#spent.set(sessionId, spent);
    return spent;
  }
}

function highestReached(
  usd: number,
  { notifyAtUsd, stopAtUsd }: SessionBudget,
): Pick<SessionBudgetReached, 'amount' | 'amountUsd'> | null {
  if (stopAtUsd !== null && usd >= stopAtUsd) return { amount: 'stop', amountUsd: stopAtUsd };
  if (notifyAtUsd !== null && usd >= notifyAtUsd) return { amount: 'notify', amountUsd: notifyAtUsd };
  return null;
}

function refusal(sessionId: string, usedUsd: number, stopAtUsd: number): GatewayError {
  return new GatewayError(
    'session_budget_spent',
    `This session (${sessionId}) has cost ${dollars(usedUsd)}, which uses up its budget of ${dollars(stopAtUsd)}. Start a new one, raise the budget (settings.sessionBudget.stopAtUsd), or resume the session for another ${dollars(stopAtUsd)}: in Sluice under Sessions, or with "sluice session resume ${sessionId}".`,
  );
}

function dollars(usd: number): string {
  return `$${Number(usd.toPrecision(4))}`;
}
