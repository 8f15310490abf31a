/**
 * Handles one API request from key to the last byte of its response. Only sequences the steps; the decisions are made by
 * guards, routes, plan and attempts.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import type { CapturedExchange, RequestRecord, RequestStarted, Reserved, Usage } from '../contract/ledger.ts';
import type { UsageView } from '../contract/request-views.ts';
import { accountFor, goesOn } from '../exchange/accounting.ts';
import { Capture } from '../exchange/capture.ts';
import { countingPlan, tokenCount } from '../exchange/count-tokens.ts';
import { RequestTrace } from '../exchange/exchange-trace.ts';
import { containsSecret } from '../exchange/find-secrets.ts';
import { hasHardDollarBudget, holdToLimits } from '../exchange/hold-to-limits.ts';
import type { JobBills } from '../exchange/job-bills.ts';
import { checkHops, passableHeaders } from '../exchange/outgoing-headers.ts';
import { checkQuery, outgoingQuery } from '../exchange/outgoing-query.ts';
import type { OutgoingCall } from '../exchange/outgoing-request.ts';
import { type CallPlan, planCall } from '../exchange/plan.ts';
import { checkPassthrough, planPassthrough } from '../exchange/plan-passthrough.ts';
import { pricedTargets } from '../exchange/priced-targets.ts';
import type { RequestBody, RequestFields } from '../exchange/request-body.ts';
import { sourceVideoOf } from '../exchange/source-video.ts';
import { type AttemptsPorts, UpstreamAttempts } from '../exchange/upstream-attempts.ts';
import { listVideos } from '../exchange/video-list.ts';
import type { UsageQuestion } from '../ledger/usage-summary.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { CompiledGroup, CompiledKey, Snapshot } from '../routing/snapshot.ts';
import type { PriceTable } from '../usage/price-table.ts';
import type { ModelsFormat } from '../wire/api.ts';
import type { Located, Registry, RouteMatch } from '../wire/registry.ts';
import { withSegment } from '../wire/segments.ts';
import type { Admission, Place } from './admission.ts';
import { ClientGone } from './body/read-body.ts';
import { receiveBody } from './body/receive-body.ts';
import type { ByteBudget, HeldBytes } from './byte-budget.ts';
import { allowOrigin } from './cors.ts';
import { authenticate, checkHost, checkOrigin, validKey } from './guards.ts';
import { sendModels } from './models.ts';
import { sendOwnUsage } from './own-usage.ts';
import { sendError, toGatewayError } from './send-error.ts';
import { sendJson } from './send-json.ts';

export interface InferencePorts extends AttemptsPorts {
  /** The current snapshot; read once per request. */
  snapshot(): Snapshot;
  registry: Registry;
  admission: Admission;
  bytes: ByteBudget;
  limiter: Limiter;
  bills: JobBills;
  summarizeUsage(question: UsageQuestion): Promise<UsageView[]>;
  /** Folder for spooled uploads. */
  uploadFolder: string;
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord): void;
  /** Stores headers and bodies, for groups that enable it. */
  capture(id: string, exchange: CapturedExchange<Buffer>): void;
  prices: PriceTable;
  /** Called for internal errors. */
  faulted(error: unknown): void;
}

/** Handles a request whose URL belongs to an API, or to none. */
export function handleInference(
  ports: InferencePorts,
  request: IncomingMessage,
  response: ServerResponse,
  located: Located,
): void {
  new InferenceCall(ports, request, response, located).run().catch(ports.faulted);
}

/** The caller's group and key. */
interface Member {
  group: CompiledGroup;
  key: CompiledKey;
}

class InferenceCall {
  readonly #ports: InferencePorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #located: Located;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  #body: RequestBody | undefined;
  #place: Place | undefined;
  /** The memory account of this request. */
  #held: HeldBytes | undefined;
  /** The body's share of it. */
  #bodyBytes = 0;
  #attempts: UpstreamAttempts | undefined;
  /** Null if the group does not capture headers and bodies. */
  #capture: Capture | null = null;
  #clientGone = false;
  #isOver = false;
  #reserved: Reserved | null = null;
  /** Booked if the usage is unknown and a hard budget applies. */
  #standIn: Usage | null = null;

  constructor(ports: InferencePorts, request: IncomingMessage, response: ServerResponse, located: Located) {
    this.#ports = ports;
    this.#request = request;
    this.#response = response;
    this.#located = located;
    this.#snapshot = ports.snapshot();
    const presented = located.api.readKeys(request.headers, located.query);
    this.#trace = new RequestTrace(request.method ?? 'GET', presented);
    response.on('close', () => this.#closed());
  }

  /** The response has been sent, or the client is gone. */
  #closed(): void {
    if (!this.#response.writableFinished) {
      this.#clientGone = true;
      this.#attempts?.clientLeft();
    }
    if (this.#isOver) this.#release();
  }

  /** Releases this request's place and memory. */
  #release(): void {
    this.#place?.leave();
    this.#held?.release();
  }

  /** The upload failed: stops the attempts as if the client had left, but the client still gets an error. */
  bodyBroke(): void {
    this.#attempts?.clientLeft();
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
    if (api.models && model !== null) return this.#tellModels(api.models, model);
    if (isKnown && path === api.usagePath) return this.#tellUsage(method);
    const match = this.#ports.registry.find(method, this.#located);
    this.#trace.take(match);
    const { group, key } = this.#admitKey();
    if (match.passed) checkPassthrough({ passed: match.passed, route: match.route, group, key });
    this.#ports.loopWatch.start();
    const place = this.#ports.admission.enter(key, this.#response);
    this.#place = place instanceof Promise ? await place : place;
    if (match.route.job?.behaviour === 'lists') return this.#listVideos(group, query);
    checkQuery(query, match.route);
    const held = this.#ports.bytes.open(key, this.#response);
    this.#held = held;
    const received = this.#receive(match, held);
    const body = received instanceof Promise ? await received : received;
    this.#noteBody(body, held);
    const plan = this.#plan(match, { group, key }, body);
    const counting = countingPlan(plan, match.route);
    const count = counting ? null : tokenCount(this.#response, match.route, body);
    if (count) return this.#tell(count);
    if (group.capture) this.#startCapture();
    const { presented } = this.#trace;
    await this.#ask(counting ?? plan, {
      match,
      group,
      body,
      held,
      headers: passableHeaders(this.#request.headers, presented),
      path: match.id !== null && plan.upstreamId ? withSegment(path, match.openSegment, plan.upstreamId) : path,
      query: outgoingQuery(query, presented),
    });
  }

  #startCapture(): void {
    const { maxBytes } = this.#snapshot.settings.capture;
    this.#capture = new Capture(maxBytes, this.#request.headers, this.#trace.presented);
  }

  #checkSender(): void {
    const { headers } = this.#request;
    const { allowedHosts, allowedOrigins } = this.#snapshot.settings;
    checkHost(headers.host, allowedHosts);
    checkOrigin(headers.origin, headers.host, allowedOrigins);
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkHops(headers);
  }

  #tellModels(format: ModelsFormat, model: string): void {
    const { method = 'GET' } = this.#request;
    const { api, path } = this.#located;
    this.#trace.path = `${api.base}${model === '' ? path : `${path.slice(0, path.indexOf('/', 1))}/{model}`}`;
    const asked = { format, model, method, path: `${api.base}${path}`, requestId: this.#trace.id };
    sendModels(this.#response, { ...this.#admitKey(), ...asked });
    this.#answered();
  }

  async #tellUsage(method: string): Promise<void> {
    this.#trace.path = `${this.#located.api.base}${this.#located.path}`;
    const { id: requestId, startedAt: nowMs } = this.#trace;
    await sendOwnUsage(this.#ports, this.#response, { ...this.#admitKey(), method, requestId, nowMs });
    this.#answered();
  }

  async #listVideos(group: CompiledGroup, query: string): Promise<void> {
    const list = await listVideos({ ports: this.#ports, group, snapshot: this.#snapshot, query });
    this.#tell(list);
  }

  #tell(answer: object): void {
    sendJson(this.#response, answer, this.#trace.id);
    this.#answered();
  }

  #admitKey(): Member {
    const key = authenticate(this.#snapshot, this.#trace.presented[0], this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    return { group, key };
  }

  #receive(match: RouteMatch, account: HeldBytes): RequestBody | Promise<RequestBody> {
    const { limits } = this.#snapshot.settings;
    const { uploadFolder: folder, loopWatch } = this.#ports;
    const options = { match, limits, folder, account, loopWatch, trace: this.#trace, exchange: this };
    return receiveBody(this.#request, this.#response, options);
  }

  #noteBody(body: RequestBody, account: HeldBytes): void {
    this.#body = body;
    this.#bodyBytes = account.bytes;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
  }

  /** From here on the request counts: checks limits and reports it as started. */
  #plan(match: RouteMatch, { group, key }: Member, body: RequestBody): CallPlan {
    const fields = match.model === null ? body.fields : { ...body.fields, model: match.model };
    this.#trace.model = fields.model;
    if (fields.model !== null) checkModelName(fields.model, this.#trace.presented);
    const planned = this.#planned(match, { group, key }, body, fields);
    this.#trace.model = planned.model;
    this.#trace.job = planned.job ?? null;
    const call = { requestId: this.#trace.id, route: match.route, key, group, body, plan: planned };
    const plan = pricedTargets(this.#ports.prices, call);
    const reserved = holdToLimits(this.#ports, this.#response, { ...call, plan });
    this.#reserved = reserved;
    if (reserved && hasHardDollarBudget(call)) this.#standIn = reserved.usage;
    this.#ports.started(this.#trace.started, reserved);
    this.#ports.loopWatch.end();
    return plan;
  }

  #planned(match: RouteMatch, { group, key }: Member, body: RequestBody, fields: RequestFields): CallPlan {
    const { passed } = match;
    const { jobs } = this.#ports;
    const snapshot = this.#snapshot;
    if (passed)
      return planPassthrough({ route: match.route, passed, namedIds: body.namedIds ?? [], group, snapshot, jobs });
    const conversationId = conversationNamedIn(match, body);
    return planCall({ match, jobId: jobNamedIn(match, body), conversationId, fields, group, key, snapshot, jobs });
  }

  async #ask(plan: CallPlan, call: OutgoingCall): Promise<void> {
    const { settings } = this.#snapshot;
    const attempts = new UpstreamAttempts(
      {
        ports: this.#ports,
        request: this.#request,
        response: this.#response,
        settings,
        trace: this.#trace,
        capture: this.#capture,
      },
      plan,
      call,
    );
    this.#attempts = attempts;
    try {
      await attempts.run();
      if (call.body.fault) throw call.body.fault;
    } finally {
      attempts.client.stop();
      this.#trace.reply = attempts.client.reply;
    }
  }

  #answered(): void {
    this.#trace.reply = { ...this.#trace.reply, outcome: 'ok', status: this.#response.statusCode };
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof ClientGone || this.#clientGone) {
      this.#trace.reply = { ...this.#trace.reply, outcome: 'client-gone' };
      return;
    }
    if (!(thrown instanceof GatewayError)) this.#ports.faulted(thrown);
    const error = toGatewayError(thrown);
    // If it was refused before authentication, the key decides whether the ledger gets a row.
    this.#trace.key ??= validKey(this.#snapshot, this.#trace.presented[0], this.#trace.startedAt);
    const { api, path, isKnown } = this.#located;
    if (this.#trace.path === '') this.#trace.unserved(`${isKnown ? api.base : ''}${path}`);
    sendError(this.#request, this.#response, { error, api, requestId: this.#trace.id });
    this.#trace.refused(error, api.statusOf(error));
  }

  /** Books the request, together with the usage of a background job that it created or found ended. */
  #book(record: RequestRecord): void {
    const { bills, finished } = this.#ports;
    const { job, madeJob, deletedJob, answering } = this.#trace;
    if (answering && madeJob && record.usage === null && goesOn(this.#trace, answering, this.#body)) {
      bills.owe(madeJob, this.#reserved);
    }
    if (deletedJob) bills.bookDeleted(deletedJob, record);
    else if (job?.owed && answering && record.outcome === 'ok') {
      bills.book(job, { tail: answering.tail, contentType: answering.responseType }, record);
    } else finished(record);
  }

  #finish(): void {
    const { loopWatch } = this.#ports;
    loopWatch.begin(this.#trace);
    const body = this.#body;
    // A streamed body is complete by now.
    if (body) this.#trace.bytesIn = body.size;
    const { prices } = this.#ports;
    const unheard = this.#reserved?.usage ?? null;
    const accounting = accountFor(this.#trace, body, { prices, reserved: this.#standIn, unheard });
    this.#book(this.#trace.record(this.#request, accounting));
    if (this.#capture) this.#ports.capture(this.#trace.id, this.#capture.exchange(body));
    body?.dispose();
    loopWatch.end();
    // The client may take a while to read the response; the body must not stay in memory for that.
    this.#body = undefined;
    this.#attempts = undefined;
    this.#held?.add(-this.#bodyBytes);
    this.#isOver = true;
    if (this.#response.closed) this.#release();
  }
}

function jobNamedIn({ route, id }: RouteMatch, body: RequestBody): string | null {
  return id === null && route.job?.behaviour === 'creates-from' ? sourceVideoOf(body) : id;
}

function conversationNamedIn({ route }: RouteMatch, body: RequestBody): string | null {
  if (route.job?.kind !== 'response' || route.job.behaviour !== 'creates') return null;
  const named = body.field('conversation');
  const id = isObject(named) ? named.id : named;
  return typeof id === 'string' ? id : null;
}

/** Settings that were exchanged by mistake: no provider is to be told the key as the name of a model. */
function checkModelName(model: string, presented: readonly string[]): void {
  if (!containsSecret(model, presented)) return;
  throw new GatewayError('invalid_value', "The field 'model' holds the key. Put the name of a model there.", {
    param: 'model',
  });
}
