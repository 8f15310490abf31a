/**
 * Handles one API request: authenticates it, admits it, and reads its body. Then answers it directly or passes it to an
 * exchange.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { UsageView } from '../contract/request-views.ts';
import { deckFor } from '../exchange/cassette-deck.ts';
import { countingPlan, tokenCount } from '../exchange/count-tokens.ts';
import { Exchange, type ExchangePorts } from '../exchange/exchange.ts';
import { RequestTrace } from '../exchange/exchange-trace.ts';
import { keptAnswer } from '../exchange/kept-answer.ts';
import { checkHops, passableHeaders } from '../exchange/outgoing-headers.ts';
import { checkQuery, outgoingQuery } from '../exchange/outgoing-request.ts';
import { checkPassthrough } from '../exchange/plan-passthrough.ts';
import type { RequestBody } from '../exchange/request-body.ts';
import { listVideos } from '../exchange/video-list.ts';
import type { FaultSwitch } from '../faults/fault-switch.ts';
import { isKeptId, type KeptResponse } from '../kept-responses/kept-response.ts';
import type { UsageQuestion } from '../ledger/usage-questions.ts';
import type { CompiledGroup, Member, Snapshot } from '../routing/snapshot.ts';
import type { ModelsFormat } from '../wire/api.ts';
import type { RequestLocation, RouteMatch } from '../wire/registry.ts';
import { withSegment } from '../wire/segments.ts';
import type { Admission, Permit } from './admission.ts';
import { continueFrom } from './body/continuation-body.ts';
import { ClientGone } from './body/read-body.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, RequestMemory } from './byte-budget.ts';
import { allowOrigin } from './cors.ts';
import { authenticate, checkSource, validKey } from './guards.ts';
import { sendKeyUsage } from './key-usage.ts';
import { sendModels } from './models.ts';
import { sendError, toGatewayError } from './send-error.ts';
import { sendJson } from './send-json.ts';
import { asksForWebSocket, onlyOverHttp, onlyOverWebSocket } from './web-socket-request.ts';

export interface ApiPorts extends ExchangePorts {
  /** The current snapshot; read once per request. */
  snapshot(): Snapshot;
  admission: Admission;
  bytes: ByteBudget;
  summarizeUsage(question: UsageQuestion): Promise<UsageView[]>;
  faults: FaultSwitch;
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
    const { method = 'GET' } = this.#request;
    const { api, path, query, isKnown } = this.#located;
    this.#checkSender();
    const model = isKnown && api.models && method !== 'DELETE' ? api.models.askedIn(path) : null;
    if (api.models && model !== null) return this.#sendModels(api.models, model);
    if (isKnown && path === api.usagePath) return this.#sendUsage(method);
    if (asksForWebSocket(this.#request.headers)) throw onlyOverHttp(this.#ports.registry, this.#located);
    const match = this.#ports.registry.find(method, this.#located);
    this.#trace.take(match);
    if (match.route.session) throw onlyOverWebSocket(match.label);
    const { group, key } = this.#admitKey();
    const opened = deckFor(this.#ports.cassettes, key);
    const cassette = opened instanceof Promise ? await opened : opened;
    if (match.passthrough && !cassette?.replaysOnly)
      checkPassthrough({ passed: match.passthrough, route: match.route, group, key });
    this.#ports.loopWatch.start();
    const place = this.#ports.admission.enter(key, this.#response);
    this.#permit = place instanceof Promise ? await place : place;
    // The body of a client that has left never ends.
    if (this.#clientGone) throw new ClientGone();
    checkQuery(query, match.route);
    const held = this.#ports.bytes.open(key, this.#response);
    this.#held = held;
    const received = this.#receive(match, held, cassette !== null);
    const sent = received instanceof Promise ? await received : received;
    this.#exchange.capture?.received(sent);
    this.#noteBody(sent, held);
    const { keptResponses, faults } = this.#ports;
    if (faults.concerns(this.#request.headers) && (await this.#meetFaults(match, { group, key }, sent))) return;
    if (cassette && (await this.#exchange.replay(cassette, match, sent))) return;
    if (match.route.job?.behaviour === 'lists') return this.#listVideos(group, query);
    const answering = keptAnswer(keptResponses, { match, groupId: group.id, query });
    const kept = answering instanceof Promise ? await answering : answering;
    if (kept) return this.#sendAnswer(kept);
    const previousId = sent.fields.previousResponseId;
    const previous = previousId !== null && isKeptId(previousId) ? keptResponses.find(previousId, group.id) : undefined;
    const before = previous instanceof Promise ? await previous : previous;
    const body = before ? await this.#continued(before, sent, held) : sent;
    const finding = this.#exchange.findJobs(match, { group, key }, body);
    if (finding) await finding;
    const planning = this.#exchange.plan(match, { group, key }, body);
    const plan = planning instanceof Promise ? await planning : planning;
    if (this.#clientGone) throw new ClientGone();
    const counting = match.route.writeTokenCount ? countingPlan(plan, match.route) : plan;
    const count = counting ? null : tokenCount(this.#response, match.route, body);
    if (count) return this.#sendAnswer(count);
    const { presented } = this.#trace;
    await this.#exchange.run(counting ?? plan, {
      match,
      group,
      body,
      held,
      headers: passableHeaders(this.#request.headers, presented),
      path: match.id !== null && plan.upstreamId ? withSegment(path, match.openSegment, plan.upstreamId) : path,
      query: outgoingQuery(query, presented),
    });
  }

  #checkSender(): void {
    const { headers } = this.#request;
    checkSource(headers, this.#snapshot.settings);
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkHops(headers);
  }

  #sendModels(format: ModelsFormat, model: string): void {
    const { method = 'GET' } = this.#request;
    const { api, path } = this.#located;
    this.#trace.path = `${api.base}${model === '' ? path : `${path.slice(0, path.indexOf('/', 1))}/{model}`}`;
    const asked = { format, model, method, path: `${api.base}${path}`, requestId: this.#trace.id };
    this.#exchange.answered(sendModels(this.#response, { ...this.#admitKey(), ...asked }));
  }

  async #sendUsage(method: string): Promise<void> {
    this.#trace.path = `${this.#located.api.base}${this.#located.path}`;
    const { id: requestId, startedAt: nowMs } = this.#trace;
    const asked = { ...this.#admitKey(), method, requestId, nowMs };
    this.#exchange.answered(await sendKeyUsage(this.#ports, this.#response, asked));
  }

  async #listVideos(group: CompiledGroup, query: string): Promise<void> {
    const list = await listVideos({ ports: this.#ports, group, snapshot: this.#snapshot, query });
    this.#sendAnswer(list);
  }

  #sendAnswer(answer: object): void {
    this.#exchange.answered(sendJson(this.#response, answer, this.#trace.id));
  }

  #admitKey(): Member {
    const key = authenticate(this.#snapshot, this.#trace.presented[0], this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    this.#exchange.admitted({ group, key });
    return { group, key };
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

  async #continued(before: KeptResponse, sent: RequestBody, held: RequestMemory): Promise<RequestBody> {
    const body = await continueFrom(before, sent);
    held.add(body.size - sent.size);
    this.#noteBody(body, held);
    return body;
  }

  /** Whether the request was answered by a fault on purpose. */
  async #meetFaults(match: RouteMatch, member: Member, body: RequestBody): Promise<boolean> {
    const { chooseFaults, injectFaults } = await import('./inject-faults.ts');
    this.#trace.model = match.model ?? body.fields.model;
    const { api } = this.#located;
    const call = { request: this.#request, response: this.#response, api, match, member, trace: this.#trace };
    const faults = chooseFaults(this.#ports.faults, call);
    if (faults.length === 0) return false;
    const met = await injectFaults(faults, call);
    if (this.#clientGone) throw new ClientGone();
    if (met === 'answered') return true;
    this.#exchange.faultInjector = met;
    return false;
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
    this.#exchange.record(body);
    body?.dispose();
    loopWatch.end();
    // The client may take a while to read the response; the body must not stay in memory for that.
    this.#body = undefined;
    this.#held?.add(-this.#bodyBytes);
    this.#isOver = true;
    if (this.#response.closed) this.#release();
  }
}
