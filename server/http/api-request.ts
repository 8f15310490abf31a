/** The listener's side of an API request: guards, admission, body and errors. Its course is `exchange/exchange.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry, RequestLocation, RouteMatch } from '../apis/registry.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { UsageView } from '../contract/request-views.ts';
import type { LocalReply } from '../exchange/answer/local-reply.ts';
import { type Door, Exchange, type ExchangePorts, type Place } from '../exchange/exchange.ts';
import { checkHops } from '../exchange/outgoing/outgoing-headers.ts';
import { ForeignObjects } from '../exchange/plan/foreign-objects.ts';
import { RequestTrace } from '../exchange/record/exchange-trace.ts';
import { configuredSecrets } from '../exchange/redact/configured-secrets.ts';
import type { RequestBody } from '../exchange/request/request-body.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { CompiledGroup, CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { UsageQuery } from '../store/rules/usage-query.ts';
import type { Admission, Permit } from './admission.ts';
import { readJsonBody } from './body/json-body.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, RequestMemory } from './byte-budget.ts';
import { allowOrigin } from './cors.ts';
import { onCutOff } from './cut-off.ts';
import { authenticate, checkSource, checkUrl, validKey } from './guards.ts';
import { sendKeyUsage } from './key-usage.ts';
import { sendModels } from './models.ts';
import { sendError } from './send-error.ts';
import { asksForWebSocket, onlyOverHttp, onlyOverWebSocket } from './web-socket-request.ts';

export interface ApiPorts {
  exchange: ExchangePorts;
  registry: Registry;
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
  const door = new ApiDoor(ports, request, response, location);
  const exchange = new Exchange(ports.exchange, door);
  response.on('close', () => exchange.closed());
  onCutOff(response, (cutOff) => {
    const reason = cutOff(door.trace.key?.id ?? null);
    if (reason) exchange.cutOff(reason);
  });
  exchange.run().catch(ports.reportError);
}

class ApiDoor implements Door {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly location: RequestLocation;
  readonly snapshot: Snapshot;
  readonly trace: RequestTrace;
  readonly #ports: ApiPorts;

  constructor(ports: ApiPorts, request: IncomingMessage, response: ServerResponse, location: RequestLocation) {
    this.#ports = ports;
    this.request = request;
    this.response = response;
    this.location = location;
    this.snapshot = ports.snapshot();
    const presentedKeys = location.api.readKeys(request.headers, location.query);
    this.trace = new RequestTrace(request.method ?? 'GET', presentedKeys, configuredSecrets(this.snapshot).distinct);
  }

  checkSender(): void {
    const { headers } = this.request;
    checkSource(headers, this.snapshot.source);
    if (headers.origin !== undefined) allowOrigin(this.response, headers.origin);
    checkUrl(this.request.url);
    checkHops(headers);
  }

  ownEndpoint(): ((member: Member) => MaybePromise<LocalReply>) | null {
    const { method = 'GET' } = this.request;
    const { api, path, isKnown } = this.location;
    if (!isKnown) return null;
    const model = api.models && method !== 'DELETE' ? api.models.askedIn(path) : null;
    if (api.models && model !== null) {
      this.trace.path = `${api.base}${model === '' ? path : `${path.slice(0, path.indexOf('/', 1))}/{model}`}`;
      const question = { format: api.models, model, method, path: `${api.base}${path}`, requestId: this.trace.id };
      return (member) => sendModels(this.response, { ...member, ...question });
    }
    if (path !== api.usagePath) return null;
    this.trace.path = `${api.base}${path}`;
    const { id: requestId, startedAt: nowMs } = this.trace;
    const { summarizeUsage, exchange } = this.#ports;
    const ports = { limiter: exchange.limiter, summarizeUsage };
    return (member) => sendKeyUsage(ports, this.response, { ...member, method, requestId, nowMs });
  }

  findRoute(): RouteMatch {
    const { registry } = this.#ports;
    if (asksForWebSocket(this.request.headers)) throw onlyOverHttp(registry, this.location);
    const match = registry.find(this.request.method ?? 'GET', this.location);
    this.trace.take(match);
    if (match.route.session) throw onlyOverWebSocket(match.label);
    return match;
  }

  authenticate(): CompiledKey {
    return authenticate(this.snapshot, this.trace.presentedKeys[0], this.trace.startedAt);
  }

  validKey(): CompiledKey | null {
    return validKey(this.snapshot, this.trace.presentedKeys[0], this.trace.startedAt);
  }

  enter(key: CompiledKey): MaybePromise<Place> {
    const { admission, exchange } = this.#ports;
    exchange.attempts.eventLoopMonitor.start();
    const entering = admission.enter(key, this.response);
    return entering instanceof Promise
      ? entering.then((permit) => new ApiPlace(this.#ports, this, permit, key))
      : new ApiPlace(this.#ports, this, entering, key);
  }

  refuse(error: GatewayError): LocalReply | null {
    const { id: requestId, secrets } = this.trace;
    return sendError(this.request, this.response, { error, api: this.location.api, requestId, secrets });
  }
}

class ApiPlace implements Place {
  readonly memory: RequestMemory;
  readonly #ports: ApiPorts;
  readonly #door: ApiDoor;
  readonly #permit: Permit;

  constructor(ports: ApiPorts, door: ApiDoor, permit: Permit, key: CompiledKey) {
    this.#ports = ports;
    this.#door = door;
    this.#permit = permit;
    this.memory = ports.bytes.open(key, door.response);
  }

  receive(match: RouteMatch, group: CompiledGroup, receiving: Parameters<Place['receive']>[2]) {
    const { uploadFolder: folder, exchange } = this.#ports;
    const { request, response, snapshot, trace } = this.#door;
    return receiveBody(request, response, {
      ...receiving,
      match,
      limits: snapshot.settings.limits,
      folder,
      account: this.memory,
      eventLoopMonitor: exchange.attempts.eventLoopMonitor,
      trace,
      foreignObjects: () => new ForeignObjects(exchange.jobs, group.id),
    });
  }

  readJson(bytes: Buffer, continuesId: string | undefined): MaybePromise<RequestBody> {
    return readJsonBody(bytes, null, continuesId);
  }

  release(): void {
    this.#permit.release();
    this.memory.release();
  }
}
