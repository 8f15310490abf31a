/**
 * The course of a realtime session, as that of a request (`exchange.ts`): admit → plan → limits → attempts → relay → record. `#serve`
 * tells it from top to bottom.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { framingOf } from '../../apis/core/sse-framing.ts';
import type { SessionFormat } from '../../apis/core/wire.ts';
import type { RequestLocation, RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord, RequestStarted, Reserved } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { after } from '../../ground/timers.ts';
import type { Limiter } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { FailureResponse } from '../../routing/attempt-result.ts';
import type { CompiledKey, Member, Snapshot } from '../../routing/snapshot.ts';
import { type JobStore, noJobs } from '../../store/ports/kept-stores.ts';
import { toGatewayError } from '../answer/attempt-failures.ts';
import { ClientResponse, clientHeaders } from '../answer/client-response.ts';
import type { LocalReply } from '../answer/local-reply.ts';
import type { AttemptsPorts } from '../attempts/attempts.ts';
import { type CassetteSource, findDeck } from '../cassette/cassette-companion.ts';
import { outgoingQuery, passableHeaders } from '../outgoing/outgoing-request.ts';
import { hasLimitHeaders } from '../plan/plan.ts';
import { createRequestId, type RequestTrace } from '../record/exchange-trace.ts';
import { secretsOf } from '../redact/redact-credential.ts';
import { ClientGone } from '../request/request-body.ts';
import { acceptClient, type OpenSession, UpstreamSearch } from './connect-upstream.ts';
import { admitSession, planSession, queryOf, referencedCall, type SessionPlan } from './plan-session.ts';
import { SessionAccounting } from './session-accounting.ts';
import { type MessageWatch, type Refusal, SessionRelay } from './session-relay.ts';

/** The session's row records its occurrence and duration; the usage is in the rows of its responses. */
const noUsage = { usage: null, usageCertainty: 'none', costUsd: 0 } as const;

interface SessionPorts {
  limiter: Limiter;
  prices: PriceTable;
  jobs: JobStore;
  attempts: AttemptsPorts;
  cassettes: CassetteSource;
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord, ending: { hasBegun: boolean }): void;
}

/** The listener's side of a session. What it does throws a GatewayError if the session is to be refused. */
export interface SessionDoor {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly location: RequestLocation;
  readonly snapshot: Snapshot;
  readonly trace: RequestTrace;
  checkSender(): void;
  findRoute(): RouteMatch;
  /** Key and group, by the configuration of the handshake or of now. */
  member(at: 'handshake' | 'now'): Member;
  /** The key, by the same; null if it may not be used. */
  validKey(at: 'handshake' | 'now'): CompiledKey | null;
  checkHandshake(): void;
  /** Takes a place among the requests that run. */
  enter(key: CompiledKey): MaybePromise<{ release(): void }>;
  /** Gives up the connection, with what was received so far. */
  handOver<T>(take: (socket: Socket, early: Buffer) => T): T;
  /** Answers the handshake with an error. */
  refuse(error: GatewayError): LocalReply | null;
}

/** A request that opens a session. */
interface FoundSession {
  match: RouteMatch;
  format: SessionFormat;
  member: Member;
}

export class Session {
  readonly #ports: SessionPorts;
  readonly #door: SessionDoor;
  readonly #trace: RequestTrace;
  #place: { release(): void } | undefined;
  #search: UpstreamSearch | undefined;
  #relay: SessionRelay | undefined;
  #sessionEnd: SessionEnd | undefined;
  #isClientGone = false;
  #hasBegun = false;
  /** Why Sluice ends it, since it is shutting down. */
  #cutOff: GatewayError | null = null;

  constructor(ports: SessionPorts, door: SessionDoor) {
    this.#ports = ports;
    this.#door = door;
    this.#trace = door.trace;
  }

  async run(): Promise<void> {
    try {
      await this.#serve();
    } catch (thrown) {
      this.#refuse(thrown);
    } finally {
      this.#finish();
    }
  }

  clientLeft(): void {
    this.#isClientGone = true;
    this.#search?.clientLeft();
  }

  /** Ends the session, because Sluice is shutting down. */
  cutOff(error: GatewayError): void {
    this.#cutOff = error;
    this.#relay?.shutDown();
    this.#search?.clientLeft();
  }

  /** The configuration has changed. A session that is not open yet is checked when it opens. */
  checkNow(): void {
    this.#sessionEnd?.checkNow();
  }

  async #serve(): Promise<void> {
    const door = this.#door;

    // Admit: who asks for what, within what the machine can do at the same time.
    door.checkSender();
    const session = this.#find();
    await this.#refuseReplay(session.member.key);
    const entering = door.enter(session.member.key);
    this.#place = entering instanceof Promise ? await entering : entering;

    // Plan: which targets may have the session.
    const callId = referencedCall(door.location.query, session.format);
    const jobs = callId === null ? noJobs : await this.#ports.jobs.lookUp([callId], session.member.group.id);
    const sessionPlan = this.#plan(session, jobs);

    // Limits: of the session; each of its responses has its own.
    const rates = await admitSession(this.#ports, this.#trace.id, session.member);
    for (const name in rates) door.response.setHeader(name, rates[name] ?? '');
    this.#ports.started(this.#trace.started, null);
    this.#hasBegun = true;

    // Attempts, and the relay between the client and the upstream that has opened the session.
    const connection = await this.#connect(session, sessionPlan);
    if (connection.kind === 'left') throw this.#cutOff ?? new ClientGone();
    if (connection.kind === 'unanswered') this.#refuseHandshake(session.match, connection.failureResponse);
    else await this.#carry(session, connection);
  }

  #find(): FoundSession {
    const match = this.#door.findRoute();
    this.#trace.take(match);
    const { session: format } = match.route;
    if (!format) throw new Error('unreachable: only sessions are upgraded');
    const member = this.#door.member('handshake');
    this.#trace.key = member.key;
    this.#door.checkHandshake();
    return { match, format, member };
  }

  /** Cassettes contain no sessions, so a key that only replays cannot open one. */
  async #refuseReplay(key: CompiledKey): Promise<void> {
    const deck = await findDeck(this.#ports.cassettes, key);
    if (deck?.replaysOnly) throw new GatewayError('replay_miss', 'A cassette answers no realtime sessions.');
  }

  #plan({ match, format, member }: FoundSession, jobs: typeof noJobs): SessionPlan {
    const { location, snapshot } = this.#door;
    const { secrets } = this.#trace;
    const sessionPlan = planSession(
      { jobs, prices: this.#ports.prices },
      { match, format, query: location.query, member, secrets, snapshot },
    );
    this.#trace.model = sessionPlan.plan.model;
    this.#trace.stream = true;
    return sessionPlan;
  }

  #connect({ match, format, member }: FoundSession, { plan, isPassed }: SessionPlan) {
    const { secrets } = this.#trace;
    const query = outgoingQuery(this.#door.location.query, secrets);
    this.#search = new UpstreamSearch(this.#ports.attempts, {
      route: match.route,
      group: member.group,
      plan,
      trace: this.#trace,
      headers: passableHeaders(this.#door.request.headers, secrets),
      queryFor: (model) => queryOf(query, format, model),
      isPassed,
    });
    if (this.#isClientGone || this.#cutOff) this.#search.clientLeft();
    return this.#search.run();
  }

  /** Answers the client's handshake with an HTTP error if no upstream opened a session. */
  #refuseHandshake({ route }: RouteMatch, failure: FailureResponse): void {
    const { settings } = this.#door.snapshot;
    if (failure.kind === 'error') throw failure.error;
    const client = new ClientResponse({
      response: this.#door.response,
      requestId: this.#trace.id,
      framing: framingOf(route),
      keepAliveMs: 0,
      unreadMs: 0,
      showsAttempts: settings.replyHeaders,
      tap: null,
      outlet: null,
    });
    client.relay(failure.answer, this.#trace.attempts.length);
    this.#trace.response = client.summary;
  }

  async #carry(session: FoundSession, upstream: OpenSession): Promise<void> {
    const { format } = session;
    const headers = this.#acceptedHeaders(session.match, upstream);
    const acceptance = { protocol: format.protocol, headers };
    const client = this.#door.handOver((socket, early) => acceptClient(this.#door.request, socket, early, acceptance));
    if (!client) {
      upstream.socket.terminate();
      throw new ClientGone();
    }
    const accounting = this.#accountingFor(session, upstream);
    const { reportError } = this.#ports.attempts;
    const relay = startRelay({ format, client, upstream, watch: accounting, reportError });
    this.#relay = relay;
    if (this.#cutOff) relay.shutDown();
    this.#sessionEnd = new SessionEnd({
      check: () => accounting.check(),
      key: () => this.#door.validKey('now'),
      end: (refusal) => relay.endBy(refusal),
    });
    const end = await relay.ended;
    this.#sessionEnd.stop();
    accounting.end(end);
    if (end.outcome === 'stream-broken' || end.outcome === 'client-gone') upstream.notes.failed(end.outcome);
    upstream.notes.over();
    const { fromClient, fromUpstream } = relay.bytes;
    this.#trace.bytesIn = fromClient;
    this.#trace.response = { ...end, status: 101, bytesOut: fromUpstream, responseType: '' };
  }

  #acceptedHeaders({ route }: RouteMatch, { headers, next }: OpenSession): Record<string, string> {
    const tells = {
      framing: framingOf(route),
      request: this.#door.request.headers,
      hasOwnLimits: hasLimitHeaders(this.#door.response),
    };
    const headersToClient = { ...this.#door.response.getHeaders(), ...clientHeaders(headers, this.#trace.id, tells) };
    const acceptedHeaders: Record<string, string> = {};
    for (const [name, value] of Object.entries(headersToClient)) {
      if (value !== undefined && !name.startsWith('content-')) acceptedHeaders[name] = String(value);
    }
    if (this.#door.snapshot.settings.replyHeaders) {
      acceptedHeaders['x-sluice-provider'] = next.target.provider.id;
      acceptedHeaders['x-sluice-attempts'] = String(this.#trace.attempts.length);
    }
    return acceptedHeaders;
  }

  #accountingFor({ match, format, member }: FoundSession, { next }: OpenSession): SessionAccounting {
    const { model, secrets } = this.#trace;
    const { target, credential } = next;
    const owner = {
      request: this.#door.request,
      secrets: secretsOf(secrets, credential),
      key: member.key,
      route: match.route,
      target,
      credentialId: credential?.id ?? null,
      model,
    };
    const { reportError } = this.#ports.attempts;
    return new SessionAccounting({ ...this.#ports, reportError }, format, owner, () => this.#door.member('now'));
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof ClientGone || this.#isClientGone) {
      this.#trace.response = { ...this.#trace.response, outcome: 'client-gone' };
      return;
    }
    const error = toGatewayError(thrown);
    if (error.code === 'internal') this.#ports.attempts.reportError(thrown);
    this.#trace.key ??= this.#door.validKey('handshake');
    const { api, path } = this.#door.location;
    if (this.#trace.path === '') this.#trace.unserved(`${api.base}${path}`);
    this.#trace.refused(error, api.statusOf(error), this.#door.refuse(error));
  }

  #finish(): void {
    for (const { record } of this.#trace.attempts) record.costUsd = 0;
    this.#ports.finished(this.#trace.record(this.#door.request, noUsage), { hasBegun: this.#hasBegun });
    this.#place?.release();
  }
}

interface RelayedSession {
  format: SessionFormat;
  client: WebSocket;
  upstream: OpenSession;
  watch: MessageWatch;
  reportError(error: unknown): void;
}

/** Starts relaying messages between client and upstream. */
function startRelay({ format, client, upstream, watch, reportError }: RelayedSession): SessionRelay {
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

/**
 * Ends an open session when its key may no longer be used or its budget is spent, even if nothing is sent in it: when
 * the configuration changes, and when the key expires.
 */
interface SessionEndOptions {
  /** Why the session may not continue, as of now; null if it may. */
  check(): Refusal | null;
  /** The key as currently configured; null if there is none any more. */
  key(): Pick<CompiledKey, 'expiresAtMs' | 'replacedAtMs'> | null;
  end(refusal: Refusal): void;
}

/** The longest delay of Node's timers; a later expiry is looked at again then. */
const maxDelayMs = 2 ** 31 - 1;

class SessionEnd {
  readonly #options: SessionEndOptions;
  #expiry: NodeJS.Timeout | undefined;

  constructor(options: SessionEndOptions) {
    this.#options = options;
    this.checkNow();
  }

  checkNow(): void {
    this.stop();
    const { check, key, end } = this.#options;
    const refusal = check();
    if (refusal) {
      end(refusal);
      return;
    }
    const endMs = Math.min(
      ...[key()?.expiresAtMs, key()?.replacedAtMs].map((atMs) => atMs ?? Number.POSITIVE_INFINITY),
    );
    if (endMs === Number.POSITIVE_INFINITY) return;
    this.#expiry = after(() => this.checkNow(), Math.min(Math.max(endMs - Date.now(), 1), maxDelayMs)).unref();
  }

  stop(): void {
    clearTimeout(this.#expiry);
  }
}
