/**
 * One API request from its arrival to its record: authenticates it, admits it, reads its body, has it answered
 * (`answer-received.ts`), and reports errors in the client's API.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { UsageView } from '../contract/request-views.ts';
import { deckFor } from '../exchange/cassette-deck.ts';
import { Exchange, type ExchangePorts, type OwnAnswer } from '../exchange/exchange.ts';
import { RequestTrace } from '../exchange/exchange-trace.ts';
import { checkHops } from '../exchange/outgoing-headers.ts';
import { checkQuery } from '../exchange/outgoing-request.ts';
import { checkPassthrough } from '../exchange/plan-passthrough.ts';
import type { RequestBody } from '../exchange/request-body.ts';
import type { UsageQuestion } from '../ledger/usage-questions.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { RequestLocation, RouteMatch } from '../wire/registry.ts';
import type { Admission, Permit } from './admission.ts';
import { type AnswerPorts, answerReceived, type ReceivedRequest } from './answer-received.ts';
import { ClientGone } from './body/read-body.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, RequestMemory } from './byte-budget.ts';
import { allowOrigin } from './cors.ts';
import { authenticate, checkSource, validKey } from './guards.ts';
import { sendKeyUsage } from './key-usage.ts';
import { sendModels } from './models.ts';
import { sendError, toGatewayError } from './send-error.ts';
import { asksForWebSocket, onlyOverHttp, onlyOverWebSocket } from './web-socket-request.ts';

export interface ApiPorts extends ExchangePorts, AnswerPorts {
  /** The current snapshot; read once per request. */
  snapshot(): Snapshot;
  admission: Admission;
  bytes: ByteBudget;
  summarizeUsage(question: UsageQuestion): Promise<UsageView[]>;
  /** Folder for spooled uploads. */
  uploadFolder: string;
  /** Called for internal errors. */
  reportError(error: unknown): void;
}

/** Handles a request whose URL belongs to an API, or to none. */
export function handleApiRequest(
  ports: ApiPorts,
  request: IncomingMessage,
  response: ServerResponse,
  located: RequestLocation,
): void {
  new ApiRequest(ports, request, response, located).run().catch(ports.reportError);
}

class ApiRequest {
  readonly #ports: ApiPorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #located: RequestLocation;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  readonly #exchange: Exchange;
  #body: RequestBody | undefined;
  #permit: Permit | undefined;
  /** The memory account of this request. */
  #held: RequestMemory | undefined;
  /** The body's share of it. */
  #bodyBytes = 0;
  #clientGone = false;
  #isOver = false;

  constructor(ports: ApiPorts, request: IncomingMessage, response: ServerResponse, located: RequestLocation) {
    this.#ports = ports;
    this.#request = request;
    this.#response = response;
    this.#located = located;
    this.#snapshot = ports.snapshot();
    const presented = located.api.readKeys(request.headers, located.query);
    this.#trace = new RequestTrace(request.method ?? 'GET', presented);
    this.#exchange = new Exchange(ports, { request, response, snapshot: this.#snapshot, trace: this.#trace });
    response.on('close', () => this.#closed());
  }

  /** The response has been sent, or the client is gone. */
  #closed(): void {
    if (!this.#response.writableFinished) {
      this.#clientGone = true;
      this.#exchange.clientLeft();
    }
    if (this.#isOver) this.#release();
  }

  /** Releases this request's place and memory. */
  #release(): void {
    this.#permit?.release();
    this.#held?.release();
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

  async #serve(): Promise<void> {
    this.#checkSender();
    const own = this.#ownEndpoint();
    if (own) return this.#exchange.answered(own instanceof Promise ? await own : own);
    const match = this.#findRoute();
    const member = this.#admitKey();
    const opening = deckFor(this.#ports.cassettes, member.key);
    const cassette = opening instanceof Promise ? await opening : opening;
    if (match.passthrough && !cassette?.replaysOnly)
      checkPassthrough({ passed: match.passthrough, route: match.route, ...member });
    const entering = this.#enter(member.key);
    if (entering) await entering;
    // The body of a client that has left never ends.
    if (this.#clientGone) throw new ClientGone();
    checkQuery(this.#located.query, match.route);
    const held = this.#ports.bytes.open(member.key, this.#response);
    this.#held = held;
    const receiving = this.#receive(match, held, cassette !== null);
    const body = receiving instanceof Promise ? await receiving : receiving;
    this.#exchange.capture?.received(body);
    this.#noteBody(body, held);
    await answerReceived(this.#ports, this.#received({ match, member, cassette, body, held }));
  }

  #checkSender(): void {
    const { headers } = this.#request;
    checkSource(headers, this.#snapshot.settings);
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkHops(headers);
  }

  /** Answers requests for models and for a key's own usage; null for all others. */
  #ownEndpoint(): MaybePromise<OwnAnswer> | null {
    const { method = 'GET' } = this.#request;
    const { api, path, isKnown } = this.#located;
    if (!isKnown) return null;
    const model = api.models && method !== 'DELETE' ? api.models.askedIn(path) : null;
    if (api.models && model !== null) {
      this.#trace.path = `${api.base}${model === '' ? path : `${path.slice(0, path.indexOf('/', 1))}/{model}`}`;
      const asked = { format: api.models, model, method, path: `${api.base}${path}`, requestId: this.#trace.id };
      return sendModels(this.#response, { ...this.#admitKey(), ...asked });
    }
    if (path !== api.usagePath) return null;
    this.#trace.path = `${api.base}${path}`;
    const { id: requestId, startedAt: nowMs } = this.#trace;
    return sendKeyUsage(this.#ports, this.#response, { ...this.#admitKey(), method, requestId, nowMs });
  }

  #findRoute(): RouteMatch {
    const { registry } = this.#ports;
    if (asksForWebSocket(this.#request.headers)) throw onlyOverHttp(registry, this.#located);
    const match = registry.find(this.#request.method ?? 'GET', this.#located);
    this.#trace.take(match);
    if (match.route.session) throw onlyOverWebSocket(match.label);
    return match;
  }

  #admitKey(): Member {
    const key = authenticate(this.#snapshot, this.#trace.presented[0], this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    this.#exchange.admitted({ group, key });
    return { group, key };
  }

  /** Takes a place among the requests that run. Returns a promise only if it has to wait for one. */
  #enter(key: CompiledKey): Promise<void> | null {
    this.#ports.loopWatch.start();
    const place = this.#ports.admission.enter(key, this.#response);
    if (!(place instanceof Promise)) {
      this.#permit = place;
      return null;
    }
    return place.then((permit) => {
      this.#permit = permit;
    });
  }

  #receive(match: RouteMatch, account: RequestMemory, isHeld: boolean): RequestBody | Promise<RequestBody> {
    const { limits } = this.#snapshot.settings;
    const { uploadFolder: folder, loopWatch } = this.#ports;
    const { capture } = this.#exchange;
    const options = {
      match,
      limits,
      folder,
      account,
      loopWatch,
      trace: this.#trace,
      exchange: this.#exchange,
      capture,
      isHeld,
    };
    return receiveBody(this.#request, this.#response, options);
  }

  #received(received: Pick<ReceivedRequest, 'match' | 'member' | 'cassette' | 'body' | 'held'>): ReceivedRequest {
    return {
      ...received,
      request: this.#request,
      response: this.#response,
      located: this.#located,
      snapshot: this.#snapshot,
      trace: this.#trace,
      exchange: this.#exchange,
      hasLeft: () => this.#clientGone,
      replaced: (body) => {
        received.held.add(body.size - received.body.size);
        this.#noteBody(body, received.held);
      },
    };
  }

  #noteBody(body: RequestBody, account: RequestMemory): void {
    this.#body = body;
    this.#bodyBytes = account.bytes;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof ClientGone || this.#clientGone) {
      this.#trace.response = { ...this.#trace.response, outcome: 'client-gone' };
      return;
    }
    if (!(thrown instanceof GatewayError)) this.#ports.reportError(thrown);
    const error = toGatewayError(thrown);
    // If it was refused before authentication, the key decides whether the ledger gets a row.
    if (!this.#trace.key) this.#admitRefused();
    const { api, path, isKnown } = this.#located;
    if (this.#trace.path === '') this.#trace.unserved(`${isKnown ? api.base : ''}${path}`);
    const sent = sendError(this.#request, this.#response, { error, api, requestId: this.#trace.id });
    this.#trace.refused(error, api.statusOf(error));
    if (sent) this.#exchange.capture?.refused(sent);
  }

  #admitRefused(): void {
    const key = validKey(this.#snapshot, this.#trace.presented[0], this.#trace.startedAt);
    const group = key && this.#snapshot.group(key.groupId);
    if (!key || !group) return;
    this.#trace.key = key;
    this.#exchange.admitted({ group, key });
  }

  #finish(): void {
    const { loopWatch } = this.#ports;
    loopWatch.begin(this.#trace);
    const body = this.#body;
    // A streamed body is complete by now.
    if (body) this.#trace.bytesIn = body.size;
    try {
      this.#exchange.record(body);
    } finally {
      body?.dispose();
      loopWatch.end();
      // The client may take a while to read the response; the body must not stay in memory for that.
      this.#body = undefined;
      this.#held?.add(-this.#bodyBytes);
      this.#isOver = true;
      if (this.#response.closed) this.#release();
    }
  }
}
