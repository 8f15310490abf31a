/** The listener's side of an API request: guards, admission, body and errors. Its course is `exchange/exchange.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Api, ModelsFormat } from '../apis/core/api.ts';
import type { Registry, RequestLocation, RouteMatch } from '../apis/registry.ts';
import { localCalendar } from '../contract/calendar.ts';
import { GatewayError } from '../contract/errors.ts';
import type { UsageTotals } from '../contract/ledger.ts';
import type { Limited, LimitMeter } from '../contract/limits.ts';
import type { UsageView } from '../contract/request-views.ts';
import { errorHeaders } from '../exchange/answer/client-response.ts';
import { type LocalReply, sendJson } from '../exchange/answer/local-reply.ts';
import { type Door, Exchange, type ExchangePorts, type Place } from '../exchange/exchange.ts';
import { checkHops } from '../exchange/outgoing/outgoing-request.ts';
import { subjectsOf } from '../exchange/plan/plan.ts';
import { ForeignObjects } from '../exchange/plan/plan-route.ts';
import { RequestTrace } from '../exchange/record/exchange-trace.ts';
import { configuredSecrets } from '../exchange/redact/redact-credential.ts';
import { Redactor } from '../exchange/redact/redactor.ts';
import type { RequestBody } from '../exchange/request/request-body.ts';
import type { MaybePromise } from '../ground/promises.ts';
import { after } from '../ground/timers.ts';
import type { Limiter } from '../limits/limiter.ts';
import { listModels, retrieveModel } from '../routing/resolve.ts';
import type { CompiledGroup, CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { UsageQuery } from '../store/rules/over-time.ts';
import type { Admission, Permit } from './admission.ts';
import { readJsonBody } from './body/json-body.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, RequestMemory } from './byte-budget.ts';
import { allowOrigin, authenticate, checkSource, checkUrl, validKey } from './guards.ts';
import { onCutOff } from './server.ts';
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

interface ModelsRequest {
  group: CompiledGroup;
  key: CompiledKey;
  format: ModelsFormat;
  /** Empty for all of them. */
  model: string;
  method: string;
  /** With the API's base. */
  path: string;
  requestId: string;
}

/** Answers from the compiled group, so that it lists exactly the models that may be used. */
function sendModels(response: ServerResponse, request: ModelsRequest): LocalReply {
  const { group, key, format, model, method, path, requestId } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', `Not allowed to ${method} on ${path}. Allowed: GET.`);
  }
  const body = model ? format.writeOne(retrieveModel(group, key, model)) : format.writeList(listModels(group, key));
  return sendJson(response, body, requestId);
}

interface KeyUsagePorts {
  limiter: Limiter;
  summarizeUsage(question: UsageQuery): Promise<UsageView[]>;
}

interface KeyUsageRequest {
  key: CompiledKey;
  group: CompiledGroup;
  method: string;
  requestId: string;
  nowMs: number;
}

/** `GET /v1/usage`: a key's own limits and usage. */
async function sendKeyUsage(
  ports: KeyUsagePorts,
  response: ServerResponse,
  { key, group, method, requestId, nowMs }: KeyUsageRequest,
): Promise<LocalReply> {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', `Not allowed to ${method} on /v1/usage. Allowed: GET.`);
  }
  const subjects = subjectsOf({ key, group });
  await ports.limiter.refresh(subjects);
  const limits = subjects.flatMap((limited) => ports.limiter.meters(limited).map((meter) => limitOf(limited, meter)));
  const [today, month] = await Promise.all([
    usageIn(ports, key.id, 'day', nowMs),
    usageIn(ports, key.id, 'month', nowMs),
  ]);
  response.setHeader('cache-control', 'no-store');
  return sendJson(
    response,
    { object: 'usage', key: key.id, name: key.name, group: group.id, limits, today, month },
    requestId,
  );
}

const names = {
  requests: 'requests_per_minute',
  tokens: 'tokens_per_minute',
  concurrent: 'concurrent',
  budget: 'budget',
};

function limitOf({ scope, id }: Limited, { kind, budget, amount, used, resetsAt }: LimitMeter) {
  return {
    object: 'limit',
    of: scope,
    id,
    limit: names[kind],
    ...(budget && { unit: budget.unit, per: budget.per, hard: budget.hard }),
    amount,
    used,
    remaining: Math.max(0, amount - used),
    resets_at: unixSeconds(resetsAt),
  };
}

async function usageIn(ports: KeyUsagePorts, keyId: string, per: 'day' | 'month', nowMs: number) {
  const { startMs } = localCalendar().periodOf(per, nowMs);
  const [totals]: UsageTotals[] = await ports.summarizeUsage({ by: 'key', names: [keyId], sinceMs: startMs });
  return {
    since: unixSeconds(startMs),
    requests: totals?.requests ?? 0,
    input_tokens: totals?.inputTokens ?? 0,
    output_tokens: totals?.outputTokens ?? 0,
    // Null: no cost is known.
    cost_usd: totals ? totals.costUsd : 0,
    /** Requests of unknown cost. */
    unpriced_requests: totals?.unpricedRequests ?? 0,
  };
}

/** Unix seconds, as in OpenAI's API. */
function unixSeconds(atMs: number | null): number | null {
  return atMs === null ? null : Math.ceil(atMs / 1_000);
}

interface ErrorAnswer {
  error: GatewayError;
  /** The API whose error format is used. */
  api: Api;
  requestId: string;
  /** The client's keys and the providers' credentials. An error may quote what the client wrote, but no secret. */
  secrets: readonly string[];
}

/** Time for a client to notice the response and stop sending before its connection is closed. */
const lingerMs = 2_000;
/** A remaining body up to this size is read, so that the connection can be kept. */
const readableRestBytes = 256 * 1024;

/**
 * Sends an error in the API's format, even while the request body is still being sent. If headers were sent already, the
 * connection is broken, so that the response cannot pass for complete; then the result is null.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { error, api, requestId, secrets }: ErrorAnswer,
): LocalReply | null {
  if (response.headersSent) {
    response.destroy();
    return null;
  }
  const body = new Redactor(secrets).body(Buffer.from(api.writeError(error)));
  const restBytes = mayStillCome(request);
  if (restBytes > readableRestBytes) response.setHeader('connection', 'close');
  const status = api.statusOf(error);
  const headers = { ...errorHeaders(api, error, requestId), 'content-length': String(body.length) };
  response.writeHead(status, headers);
  if (restBytes === 0) response.end(body);
  else answerInMidBody(request, response, body);
  return { status, headers, body };
}

/** The most bytes of the body that may still arrive. Right after the headers, `complete` is false even without a body. */
function mayStillCome({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/**
 * Sends the response at once, then reads and discards the rest of the request until its end or `lingerMs`, and only then ends
 * the response: that closes the connection, and closing with unread bytes resets it, so that a client that sends everything
 * before it reads could lose the response.
 */
function answerInMidBody(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  request.unpipe();
  request.resume();
  request.on('error', () => {});
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = after(() => {
    response.once('finish', () => request.destroy());
    end();
  }, lingerMs);
  request.once('end', end);
  request.once('close', end);
}
