/**
 * Determines which session a request belongs to: by the name that the client sends, by the response that it continues,
 * or by the beginning of its conversation. A single request forms no session: the second one of a conversation makes it
 * one, and the first one joins it.
 *
 * Beginnings and responses are kept in memory only. After a restart, a session that the client does not name therefore
 * resumes only with its second request.
 */
import { hash } from 'node:crypto';
import {
  type ClientSession,
  cacheKeyIn,
  conversationIn,
  openingDigest,
  sessionInHeaders,
} from '../../apis/core/requests/client-session.ts';
import { toolResultsOf } from '../../apis/core/requests/tool-results.ts';
import { turnStepOf, turnsIn } from '../../apis/core/requests/turn-step.ts';
import type { HeaderFields, RequestFormat, RequestView } from '../../apis/core/wire.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord, RequestSession } from '../../contract/ledger.ts';
import type { SessionBudget } from '../../contract/limit-settings.ts';
import type { SessionBudgetReached } from '../../contract/session-views.ts';
import { LruMap } from '../../ground/collections.ts';
import type { SessionMark } from '../record/exchange-trace.ts';
import { notedText } from '../redact/redact-credential.ts';
import { SessionSpending, type SessionSpendingPorts } from './session-spending.ts';

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
