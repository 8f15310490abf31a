/**
 * Handles one WebSocket request from authentication to close: applies the same guards, admission and limits as to an HTTP
 * request, then relays between client and upstream. Only sequences the steps.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionFormat } from '../apis/core/session-format.ts';
import { framingOf } from '../apis/core/streams/sse-framing.ts';
import type { RequestLocation, RouteMatch } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import { clientHeaders } from '../exchange/answer/client-headers.ts';
import { ClientResponse } from '../exchange/answer/client-response.ts';
import { toGatewayError } from '../exchange/attempts/report-failure.ts';
import { type CassetteSource, findDeck } from '../exchange/cassette/cassette-deck.ts';
import { checkHops, passableHeaders } from '../exchange/outgoing/outgoing-headers.ts';
import { outgoingQuery } from '../exchange/outgoing/outgoing-request.ts';
import { hasLimitHeaders } from '../exchange/plan/enforce-limits.ts';
import { acceptClient } from '../exchange/realtime/accept-client.ts';
import { admitSession } from '../exchange/realtime/admit-response.ts';
import { type OpenSession, UpstreamSearch } from '../exchange/realtime/connect-upstream.ts';
import { planSession, queryOf, referencedCall, type SessionPlan } from '../exchange/realtime/plan-session.ts';
import { SessionAccounting } from '../exchange/realtime/session-accounting.ts';
import { SessionEnd } from '../exchange/realtime/session-end.ts';
import type { SessionRelay } from '../exchange/realtime/session-relay.ts';
import { startRelay } from '../exchange/realtime/start-relay.ts';
import { RequestTrace } from '../exchange/record/exchange-trace.ts';
import { configuredSecrets } from '../exchange/redact/configured-secrets.ts';
import { secretsOf } from '../exchange/redact/redact-credential.ts';
import { ClientGone } from '../exchange/request/request-body.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { FailureResponse } from '../routing/attempt-result.ts';
import type { CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import { type KnownJobs, noJobs } from '../store/ports/job-store.ts';
import type { Permit } from './admission.ts';
import type { ApiPorts } from './api-request.ts';
import { shuttingDown } from './cut-off.ts';
import { authenticate, checkSource, checkUrl, validKey } from './guards.ts';
import { sendError } from './send-error.ts';
import type { UpgradedConnection } from './upgraded-connection.ts';
import { checkHandshake } from './web-socket-request.ts';

/** The session's row records its occurrence and duration; the usage is in the rows of its responses. */
const noUsage = { usage: null, usageCertainty: 'none', costUsd: 0 } as const;

/** A request that opens a session. */
interface FoundSession {
  match: RouteMatch;
  format: SessionFormat;
  member: Member;
}

export interface SessionPorts
  extends Pick<ApiPorts, 'exchange' | 'registry' | 'snapshot' | 'admission' | 'reportError'> {
  cassettes: CassetteSource;
}

export class SessionCall {
  readonly #ports: SessionPorts;
  readonly #connection: UpgradedConnection;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #location: RequestLocation;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  #permit: Permit | undefined;
  #search: UpstreamSearch | undefined;
  #relay: SessionRelay | undefined;
  #sessionEnd: SessionEnd | undefined;
  #isClientGone = false;
  #isShutDown = false;

  constructor(ports: SessionPorts, request: IncomingMessage, connection: UpgradedConnection) {
    this.#ports = ports;
    this.#request = request;
    this.#connection = connection;
    this.#response = connection.response;
    this.#location = ports.registry.locate(request.url ?? '/', request.headers);
    this.#snapshot = ports.snapshot();
    const presentedKeys = this.#location.api.readKeys(request.headers, this.#location.query);
    this.#trace = new RequestTrace('GET', presentedKeys, configuredSecrets(this.#snapshot).distinct);
    this.#response.once('close', () => this.#clientLeft());
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

  /** Ends the session, because Sluice is shutting down. */
  shutDown(): void {
    this.#isShutDown = true;
    this.#relay?.shutDown();
    this.#search?.clientLeft();
  }

  /** The configuration has changed. A session that is not open yet is checked when it opens. */
  checkNow(): void {
    this.#sessionEnd?.checkNow();
  }

  #clientLeft(): void {
    this.#isClientGone = true;
    this.#search?.clientLeft();
  }

  async #serve(): Promise<void> {
    const { headers } = this.#request;
    checkSource(headers, this.#snapshot.source);
    checkUrl(this.#request.url);
    checkHops(headers);
    const session = this.#find();
    await this.#refuseReplay(session.member.key);
    const permit = this.#ports.admission.enter(session.member.key, this.#response);
    this.#permit = permit instanceof Promise ? await permit : permit;
    const sessionPlan = await this.#plan(session, await this.#findCall(session));
    const connection = await this.#connect(session, sessionPlan);
    if (connection.kind === 'left') throw this.#isShutDown ? shuttingDown() : new ClientGone();
    if (connection.kind === 'unanswered') this.#refuseHandshake(session.match, connection.failureResponse);
    else await this.#carry(session, connection);
  }

  /** Cassettes contain no sessions, so a key that only replays cannot open one. */
  async #refuseReplay(key: CompiledKey): Promise<void> {
    const deck = await findDeck(this.#ports.cassettes, key);
    if (deck?.replaysOnly) throw new GatewayError('replay_miss', 'A cassette answers no realtime sessions.');
  }

  #find(): FoundSession {
    const match = this.#ports.registry.find('GET', this.#location);
    this.#trace.take(match);
    const { session: format } = match.route;
    if (!format) throw new Error('unreachable: only sessions are upgraded');
    const member = this.#member(this.#snapshot);
    this.#trace.key = member.key;
    checkHandshake(this.#request.headers);
    return { match, format, member };
  }

  /** Returns the key and group according to the snapshot. Throws GatewayError if the key may not be used. */
  #member(snapshot: Snapshot): Member {
    const key = authenticate(snapshot, this.#trace.presentedKeys[0], Date.now());
    const group = snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" refers to a group that does not exist.`);
    return { key, group };
  }

  #findCall({ format, member }: FoundSession): MaybePromise<KnownJobs> {
    const callId = referencedCall(this.#location.query, format);
    return callId === null ? noJobs : this.#ports.exchange.jobs.lookUp([callId], member.group.id);
  }

  async #plan({ match, format, member }: FoundSession, jobs: KnownJobs): Promise<SessionPlan> {
    const { query } = this.#location;
    const { id, secrets } = this.#trace;
    const { prices } = this.#ports.exchange;
    const sessionPlan = planSession(
      { jobs, prices },
      { match, format, query, member, secrets, snapshot: this.#snapshot },
    );
    this.#trace.model = sessionPlan.plan.model;
    this.#trace.stream = true;
    const rates = await admitSession(this.#ports.exchange, id, member);
    for (const name in rates) this.#response.setHeader(name, rates[name] ?? '');
    this.#ports.exchange.started(this.#trace.started, null);
    return sessionPlan;
  }

  #connect({ match, format, member }: FoundSession, { plan, isPassed }: SessionPlan) {
    const { secrets } = this.#trace;
    const query = outgoingQuery(this.#location.query, secrets);
    this.#search = new UpstreamSearch(this.#ports.exchange.attempts, {
      route: match.route,
      group: member.group,
      plan,
      trace: this.#trace,
      headers: passableHeaders(this.#request.headers, secrets),
      queryFor: (model) => queryOf(query, format, model),
      isPassed,
    });
    if (this.#isClientGone || this.#isShutDown) this.#search.clientLeft();
    return this.#search.run();
  }

  /** Answers the client's handshake with an HTTP error if no upstream opened a session. */
  #refuseHandshake({ route }: RouteMatch, failure: FailureResponse): void {
    const { settings } = this.#snapshot;
    if (failure.kind === 'error') throw failure.error;
    const client = new ClientResponse({
      response: this.#response,
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
    const client = this.#connection.handOver((socket, early) => acceptClient(this.#request, socket, early, acceptance));
    if (!client) {
      upstream.socket.terminate();
      throw new ClientGone();
    }
    const accounting = this.#accountingFor(session, upstream);
    const { reportError } = this.#ports;
    const relay = startRelay({ format, client, upstream, watch: accounting, reportError });
    this.#relay = relay;
    if (this.#isShutDown) relay.shutDown();
    this.#sessionEnd = new SessionEnd({
      check: () => accounting.check(),
      key: () => validKey(this.#ports.snapshot(), this.#trace.presentedKeys[0], Date.now()),
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
      request: this.#request.headers,
      hasOwnLimits: hasLimitHeaders(this.#response),
    };
    const headersToClient = { ...this.#response.getHeaders(), ...clientHeaders(headers, this.#trace.id, tells) };
    const acceptedHeaders: Record<string, string> = {};
    for (const [name, value] of Object.entries(headersToClient)) {
      if (value !== undefined && !name.startsWith('content-')) acceptedHeaders[name] = String(value);
    }
    if (this.#snapshot.settings.replyHeaders) {
      acceptedHeaders['x-sluice-provider'] = next.target.provider.id;
      acceptedHeaders['x-sluice-attempts'] = String(this.#trace.attempts.length);
    }
    return acceptedHeaders;
  }

  #accountingFor({ match, format, member }: FoundSession, { next }: OpenSession): SessionAccounting {
    const { model, secrets } = this.#trace;
    const { target, credential } = next;
    const owner = {
      request: this.#request,
      secrets: secretsOf(secrets, credential),
      key: member.key,
      route: match.route,
      target,
      credentialId: credential?.id ?? null,
      model,
    };
    return new SessionAccounting({ ...this.#ports.exchange, reportError: this.#ports.reportError }, format, owner, () =>
      this.#member(this.#ports.snapshot()),
    );
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof ClientGone || this.#isClientGone) {
      this.#trace.response = { ...this.#trace.response, outcome: 'client-gone' };
      return;
    }
    const error = toGatewayError(thrown);
    if (error.code === 'internal') this.#ports.reportError(thrown);
    this.#trace.key ??= validKey(this.#snapshot, this.#trace.presentedKeys[0], this.#trace.startedAt);
    const { api, path } = this.#location;
    if (this.#trace.path === '') this.#trace.unserved(`${api.base}${path}`);
    sendError(this.#request, this.#response, { error, api, requestId: this.#trace.id, secrets: this.#trace.secrets });
    this.#trace.refused(error, api.statusOf(error));
  }

  #finish(): void {
    for (const { record } of this.#trace.attempts) record.costUsd = 0;
    this.#ports.exchange.finished(this.#trace.record(this.#request, noUsage));
    this.#permit?.release();
  }
}
