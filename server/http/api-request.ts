/**
 * One API request from its arrival to its record: authenticates it, admits it, reads its body, has it answered
 * (`answer-received.ts`), and reports errors in the client's API.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLocation, RouteMatch } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import type { UsageView } from '../contract/request-views.ts';
import { findDeck } from '../exchange/cassette/cassette-deck.ts';
import { Exchange, type ExchangePorts, type LocalReply } from '../exchange/exchange.ts';
import { checkHops } from '../exchange/outgoing/outgoing-headers.ts';
import { checkQuery } from '../exchange/outgoing/outgoing-request.ts';
import { checkPath } from '../exchange/plan/check-written-secrets.ts';
import { ForeignObjects } from '../exchange/plan/foreign-objects.ts';
import { checkPassthrough } from '../exchange/plan/plan-passthrough.ts';
import { RequestTrace } from '../exchange/record/exchange-trace.ts';
import { configuredSecrets } from '../exchange/redact/configured-secrets.ts';
import type { RequestBody } from '../exchange/request/request-body.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { CompiledGroup, CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { UsageQuery } from '../store/rules/usage-query.ts';
import type { Admission, Permit } from './admission.ts';
import { type AnswerPorts, answerReceived } from './answer-received.ts';
import { ClientGone } from './body/body-faults.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, RequestMemory } from './byte-budget.ts';
import { allowOrigin } from './cors.ts';
import { onCutOff, shuttingDown } from './cut-off.ts';
import { authenticate, checkSource, checkUrl, validKey } from './guards.ts';
import { sendKeyUsage } from './key-usage.ts';
import { sendModels } from './models.ts';
import { sendError, toGatewayError } from './send-error.ts';
import { asksForWebSocket, onlyOverHttp, onlyOverWebSocket } from './web-socket-request.ts';

export interface ApiPorts extends ExchangePorts, AnswerPorts {
  /** The current snapshot; read once per request. */
  snapshot(): Snapshot;
  admission: Admission;
  bytes: ByteBudget;
  summarizeUsage(question: UsageQuery): Promise<UsageView[]>;
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
  location: RequestLocation,
): void {
  new ApiRequest(ports, request, response, location).run().catch(ports.reportError);
}

/** Requests that ended in this turn of the event loop. */
let ended: ApiRequest[] = [];

/**
 * Records the requests of one turn one after another, after their last bytes were written: no response waits for the
 * accounting of another, and doing the same work in a row costs 3 % less of a plain request.
 */
function finishEnded(): void {
  const requests = ended;
  ended = [];
  for (const request of requests) request.finish();
}

class ApiRequest {
  readonly #ports: ApiPorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #location: RequestLocation;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  readonly #exchange: Exchange;
  #body: RequestBody | undefined;
  #permit: Permit | undefined;
  /** The memory account of this request. */
  #memory: RequestMemory | undefined;
  /** The body's share of it. */
  #bodyBytes = 0;
  #clientGone = false;
  /** It was refused because Sluice shuts down. */
  #isCutOff = false;
  #isOver = false;

  constructor(ports: ApiPorts, request: IncomingMessage, response: ServerResponse, location: RequestLocation) {
    this.#ports = ports;
    this.#request = request;
    this.#response = response;
    this.#location = location;
    this.#snapshot = ports.snapshot();
    const presentedKeys = location.api.readKeys(request.headers, location.query);
    this.#trace = new RequestTrace(request.method ?? 'GET', presentedKeys, configuredSecrets(this.#snapshot).distinct);
    this.#exchange = new Exchange(ports, { request, response, snapshot: this.#snapshot, trace: this.#trace });
    response.on('close', () => this.#closed());
    onCutOff(response, () => this.#cutOff());
  }

  /** The response has been sent, or the client is gone. */
  #closed(): void {
    if (!this.#response.writableFinished) {
      this.#clientGone = true;
      this.#exchange.clientLeft();
    }
    if (this.#isOver) this.#release();
  }

  /** Those whose providers are asked report it themselves, after what the client has. */
  #cutOff(): void {
    if (this.#isOver || this.#response.writableEnded || this.#exchange.cutOff(shuttingDown())) return;
    this.#refuse(shuttingDown());
    this.#isCutOff = true;
  }

  /** Releases this request's place and memory. */
  #release(): void {
    this.#permit?.release();
    this.#memory?.release();
  }

  async run(): Promise<void> {
    try {
      await this.#serve();
    } catch (thrown) {
      this.#refuse(thrown);
    } finally {
      if (ended.push(this) === 1) setImmediate(finishEnded);
    }
  }

  async #serve(): Promise<void> {
    this.#checkSender();
    const ownAnswer = this.#ownEndpoint();
    if (ownAnswer) return this.#exchange.answered(ownAnswer instanceof Promise ? await ownAnswer : ownAnswer);
    const match = this.#findRoute();
    const member = this.#admitKey();
    checkPath(this.#location.path, this.#trace.secrets);
    const opening = findDeck(this.#ports.cassettes, member.key);
    const cassette = opening instanceof Promise ? await opening : opening;
    if (match.passthrough && !cassette?.replaysOnly)
      checkPassthrough({ passthroughMatch: match.passthrough, route: match.route, ...member });
    const entering = this.#enter(member.key);
    if (entering) await entering;
    // The body of a client that has left never ends.
    if (this.#clientGone) throw new ClientGone();
    checkQuery(this.#location.query, match.route);
    const memory = this.#ports.bytes.open(member.key, this.#response);
    this.#memory = memory;
    const receiving = this.#receive(match, { group: member.group, memory }, cassette !== null);
    const body = receiving instanceof Promise ? await receiving : receiving;
    this.#exchange.capture?.received(body);
    this.#noteBody(body, memory);
    await answerReceived(this.#ports, {
      request: this.#request,
      response: this.#response,
      location: this.#location,
      trace: this.#trace,
      exchange: this.#exchange,
      match,
      member,
      cassette,
      body,
      memory,
      hasLeft: () => this.#clientGone,
      replaced: (whole) => {
        memory.add(whole.size - body.size);
        this.#noteBody(whole, memory);
      },
    });
  }

  #checkSender(): void {
    const { headers } = this.#request;
    checkSource(headers, this.#snapshot.source);
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkUrl(this.#request.url);
    checkHops(headers);
  }

  /** Answers requests for models and for a key's own usage; null for all others. */
  #ownEndpoint(): MaybePromise<LocalReply> | null {
    const { method = 'GET' } = this.#request;
    const { api, path, isKnown } = this.#location;
    if (!isKnown) return null;
    const model = api.models && method !== 'DELETE' ? api.models.askedIn(path) : null;
    if (api.models && model !== null) {
      this.#trace.path = `${api.base}${model === '' ? path : `${path.slice(0, path.indexOf('/', 1))}/{model}`}`;
      const question = { format: api.models, model, method, path: `${api.base}${path}`, requestId: this.#trace.id };
      return sendModels(this.#response, { ...this.#admitKey(), ...question });
    }
    if (path !== api.usagePath) return null;
    this.#trace.path = `${api.base}${path}`;
    const { id: requestId, startedAt: nowMs } = this.#trace;
    return sendKeyUsage(this.#ports, this.#response, { ...this.#admitKey(), method, requestId, nowMs });
  }

  #findRoute(): RouteMatch {
    const { registry } = this.#ports;
    if (asksForWebSocket(this.#request.headers)) throw onlyOverHttp(registry, this.#location);
    const match = registry.find(this.#request.method ?? 'GET', this.#location);
    this.#trace.take(match);
    if (match.route.session) throw onlyOverWebSocket(match.label);
    return match;
  }

  #admitKey(): Member {
    const key = authenticate(this.#snapshot, this.#trace.presentedKeys[0], this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    this.#exchange.admitted({ group, key });
    return { group, key };
  }

  /** Takes a place among the requests that run. Returns a promise only if it has to wait for one. */
  #enter(key: CompiledKey): Promise<void> | null {
    this.#ports.eventLoopMonitor.start();
    const entering = this.#ports.admission.enter(key, this.#response);
    if (!(entering instanceof Promise)) {
      this.#permit = entering;
      return null;
    }
    return entering.then((permit) => {
      this.#permit = permit;
    });
  }

  #receive(
    match: RouteMatch,
    { group, memory: account }: { group: CompiledGroup; memory: RequestMemory },
    isHeld: boolean,
  ): RequestBody | Promise<RequestBody> {
    const { limits } = this.#snapshot.settings;
    const { uploadFolder: folder, eventLoopMonitor, jobs } = this.#ports;
    const { capture } = this.#exchange;
    const options = {
      match,
      limits,
      folder,
      account,
      eventLoopMonitor,
      trace: this.#trace,
      exchange: this.#exchange,
      capture,
      isHeld,
      foreignObjects: () => new ForeignObjects(jobs, group.id),
    };
    return receiveBody(this.#request, this.#response, options);
  }

  #noteBody(body: RequestBody, account: RequestMemory): void {
    this.#body = body;
    this.#bodyBytes = account.bytes;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
  }

  #refuse(thrown: unknown): void {
    if (this.#isCutOff) return;
    if (thrown instanceof ClientGone || this.#clientGone) {
      this.#trace.response = { ...this.#trace.response, outcome: 'client-gone' };
      return;
    }
    const error = toGatewayError(thrown);
    if (error.code === 'internal') this.#ports.reportError(thrown);
    // If it was refused before authentication, the key decides whether the ledger gets a row.
    if (!this.#trace.key) this.#admitRefused();
    const { api, path, isKnown } = this.#location;
    if (this.#trace.path === '') this.#trace.unserved(`${isKnown ? api.base : ''}${path}`);
    const sentError = sendError(this.#request, this.#response, {
      error,
      api,
      requestId: this.#trace.id,
      secrets: this.#trace.secrets,
    });
    this.#trace.refused(error, api.statusOf(error));
    if (sentError) this.#exchange.capture?.refused(sentError);
  }

  #admitRefused(): void {
    const key = validKey(this.#snapshot, this.#trace.presentedKeys[0], this.#trace.startedAt);
    const group = key && this.#snapshot.group(key.groupId);
    if (!key || !group) return;
    this.#trace.key = key;
    this.#exchange.admitted({ group, key });
  }

  /** Records the request, and frees its memory and place. */
  finish(): void {
    const { eventLoopMonitor } = this.#ports;
    eventLoopMonitor.begin(this.#trace);
    const body = this.#body;
    // A streamed body is complete by now.
    if (body) this.#trace.bytesIn = body.size;
    try {
      this.#exchange.record(body);
    } catch (error) {
      this.#ports.reportError(error);
    } finally {
      body?.dispose();
      eventLoopMonitor.end();
      // The client may take a while to read the response; the body must not stay in memory for that.
      this.#body = undefined;
      this.#memory?.add(-this.#bodyBytes);
      this.#isOver = true;
      if (this.#response.closed) this.#release();
    }
  }
}
