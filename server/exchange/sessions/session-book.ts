/**
 * Which session a request belongs to, by what the client names, by the response that it continues, or by how its conversation
 * begins. A single request forms no session: the second one of a conversation makes it one, and the first one joins it.
 *
 * Beginnings and responses are remembered in memory only, so that after a restart a session without a name of the client's goes on
 * from its second request.
 */
import { hash } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestSession } from '../../contract/ledger.ts';
import { RecentMap } from '../../recent-map.ts';
import { openingDigest } from '../../wire/conversation-id.ts';
import type { HeaderFields } from '../../wire/headers.ts';
import { cacheKeyIn, conversationIn, type NamedSession, sessionInHeaders } from '../../wire/named-session.ts';
import { turnStepOf } from '../../wire/turn-step.ts';
import type { RequestFormat, RequestView } from '../../wire/wire.ts';

/** A request that is asked about. */
export interface SessionQuestion {
  requestId: string;
  /** Unix milliseconds. */
  startedAt: number;
  keyId: string;
  headers: HeaderFields;
  body: RequestView;
  /** The response that it continues. */
  previousResponseId: string | null;
  /** Conversations form sessions, too, even if the client names none. */
  isByConversation: boolean;
  /** Null if its body holds no conversation. */
  format: Pick<RequestFormat, 'sessionOf'> | null;
}

/** The session of one request. It may be set later, by the next request of the same conversation. */
export interface SessionMark {
  readonly requestId: string;
  readonly startedAt: number;
  session: RequestSession | null;
}

interface Opening {
  first: SessionMark;
  step: RequestSession['step'];
  /** Messages in its longest request. */
  messages: number;
}

export interface SessionBookPorts {
  /** Ids of the sessions that were stopped before. */
  stoppedSessions(): readonly string[];
  /** A recorded request belongs to a session after all. */
  joined(joined: { requestId: string; startedAt: number; session: RequestSession }): void;
}

/** Conversations and responses that are remembered. */
const mostRemembered = 4_096;
const idLength = 16;
const threadLength = 8;

export class SessionBook {
  readonly #ports: SessionBookPorts;
  readonly #openings = new RecentMap<Opening>(mostRemembered);
  readonly #responses = new RecentMap<SessionMark>(mostRemembered);
  readonly #stopped: Set<string>;

  constructor(ports: SessionBookPorts) {
    this.#ports = ports;
    this.#stopped = new Set(ports.stoppedSessions());
  }

  /** The mark of the request, whose session is null as long as it belongs to none. */
  markFor(question: SessionQuestion): SessionMark {
    const mark: SessionMark = { requestId: question.requestId, startedAt: question.startedAt, session: null };
    const named = sessionInHeaders(question.headers) ?? this.#sessionNamedIn(question);
    if (named) mark.session = sessionFor(question, named);
    else if (question.format) this.#bySequence(question, mark);
    return mark;
  }

  /** A response was stored, which later requests may continue. */
  stored(mark: SessionMark, keyId: string, responseId: string): void {
    this.#responses.set(`${keyId}\n${responseId}`, mark);
  }

  /** @throws GatewayError `session_stopped` */
  refuseStopped({ session }: SessionMark): void {
    if (session === null || this.#stopped.size === 0 || !this.#stopped.has(session.id)) return;
    throw new GatewayError(
      'session_stopped',
      `This session (${session.id}) was stopped in Sluice. Start a new one, or let it go on: in Sluice under Sessions, or with "sluice session resume ${session.id}".`,
    );
  }

  /** Refuses the session's requests from now on, or serves them again. Bound, since it is passed as a listener. */
  readonly setStopped = (id: string, isStopped: boolean): void => {
    if (isStopped) this.#stopped.add(id);
    else this.#stopped.delete(id);
  };

  #sessionNamedIn({ body, previousResponseId, keyId, format }: SessionQuestion): NamedSession | null {
    const own = format?.sessionOf?.(body) ?? conversationIn(body);
    if (own !== null) return { name: own, thread: null };
    if (previousResponseId !== null && this.#responses.has(`${keyId}\n${previousResponseId}`)) return null;
    const cacheKey = cacheKeyIn(body);
    return cacheKey === null ? null : { name: cacheKey, thread: null };
  }

  /** By the response that the request continues, or by how the conversation begins. */
  #bySequence(question: SessionQuestion, mark: SessionMark): void {
    const { body, keyId, previousResponseId, isByConversation } = question;
    if (previousResponseId !== null) {
      const before = this.#responses.get(`${keyId}\n${previousResponseId}`);
      if (!before) return;
      this.#join(before, { id: idOf(keyId, `response\n${previousResponseId}`), thread: null, step: 'prompt' });
      mark.session = before.session && { ...before.session, step: turnStepOf(body) };
      return;
    }
    const digest = isByConversation ? openingDigest(body) : null;
    if (digest !== null) this.#byOpening(question, mark, digest);
  }

  #byOpening({ body, keyId }: SessionQuestion, mark: SessionMark, digest: string): void {
    const place = `${keyId}\n${digest}`;
    const messages = (body.raw('messages') ?? body.raw('input') ?? body.raw('contents'))?.items ?? 0;
    const opening = this.#openings.get(place);
    if (!opening) {
      this.#openings.set(place, { first: mark, step: messages > 0 ? turnStepOf(body) : 'prompt', messages });
      return;
    }
    const thread = digest.slice(0, threadLength);
    // Equal requests, such as those of a test that is repeated, are no conversation.
    if (opening.first.session === null && messages <= opening.messages) return;
    opening.messages = Math.max(opening.messages, messages);
    const id = opening.first.session?.id ?? idOf(keyId, `opening\n${digest}`);
    this.#join(opening.first, { id, thread, step: opening.step });
    mark.session = { id, thread, step: turnStepOf(body) };
  }

  #join(mark: SessionMark, session: RequestSession): void {
    if (mark.session !== null) return;
    mark.session = session;
    this.#ports.joined({ requestId: mark.requestId, startedAt: mark.startedAt, session });
  }
}

function sessionFor({ keyId, body, format }: SessionQuestion, { name, thread }: NamedSession): RequestSession {
  const id = idOf(keyId, name);
  if (!format) return { id, thread: null, step: null };
  const own = thread === null ? openingDigest(body) : digestOf(thread);
  return { id, thread: own?.slice(0, threadLength) ?? null, step: turnStepOf(body) };
}

/** With the key, so that two keys never share a session, whatever their clients name it. */
function idOf(keyId: string, name: string): string {
  return `ses_${digestOf(`${keyId}\n${name}`).slice(0, idLength)}`;
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}
