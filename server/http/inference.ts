/**
 * The data plane: one request of `/v1` from its key to the last byte of its answer, station by station. Decides nothing
 * by itself: guards, routes, plan and attempts do.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { CapturedExchange, RequestRecord, RequestStarted, Reserved } from '../contract/ledger.ts';
import type { UsageView } from '../contract/request-views.ts';
import { accountFor, type PriceOf } from '../exchange/accounting.ts';
import { Capture } from '../exchange/capture.ts';
import { RequestTrace } from '../exchange/exchange-trace.ts';
import { holdToLimits } from '../exchange/hold-to-limits.ts';
import { checkHops } from '../exchange/outgoing-headers.ts';
import type { OutgoingCall } from '../exchange/outgoing-request.ts';
import { type CallPlan, planCall } from '../exchange/plan.ts';
import { type AttemptsPorts, UpstreamAttempts } from '../exchange/upstream-attempts.ts';
import { sendVideoList } from '../exchange/video-list.ts';
import type { UsageQuestion } from '../ledger/usage-summary.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { CompiledGroup, CompiledKey, Snapshot } from '../routing/snapshot.ts';
import { findRoute, type RouteMatch, splitUrl, withJobId } from '../wire/registry.ts';
import type { Route } from '../wire/route.ts';
import type { Admission, Place } from './admission.ts';
import type { IncomingBody } from './body/incoming-body.ts';
import { ClientGone } from './body/read-body.ts';
import { receiveBody } from './body/receive-body.ts';
import { allowOrigin } from './cors.ts';
import { authenticate, checkHost, checkOrigin } from './guards.ts';
import { isModelsPath, sendModels } from './models.ts';
import { sendOwnUsage } from './own-usage.ts';
import { sendError, toGatewayError } from './send-error.ts';

export interface InferencePorts extends AttemptsPorts {
  /** The current one; a request takes it once. */
  snapshot(): Snapshot;
  admission: Admission;
  limiter: Limiter;
  summarizeUsage(question: UsageQuestion): Promise<UsageView[]>;
  /** Where uploads are spooled. */
  uploadFolder: string;
  started(request: RequestStarted, reserved: Reserved | null): void;
  finished(record: RequestRecord): void;
  /** Keeps headers and bodies, for groups that want it. */
  capture(id: string, exchange: CapturedExchange<Buffer>): void;
  priceOf: PriceOf;
  /** Told of what is Sluice's own fault. */
  faulted(error: unknown): void;
}

/** Handles a request whose URL begins with `/v1`. Never rejects. */
export async function handleInference(
  ports: InferencePorts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await new InferenceCall(ports, request, response).run();
  } catch (thrown) {
    ports.faulted(thrown);
  }
}

/** Whose request it is. */
interface Member {
  group: CompiledGroup;
  key: CompiledKey;
}

class InferenceCall {
  readonly #ports: InferencePorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  #body: IncomingBody | undefined;
  #place: Place | undefined;
  #attempts: UpstreamAttempts | undefined;
  /** Null if its group does not want headers and bodies kept. */
  #capture: Capture | null = null;
  #clientGone = false;

  constructor(ports: InferencePorts, request: IncomingMessage, response: ServerResponse) {
    this.#ports = ports;
    this.#request = request;
    this.#response = response;
    this.#snapshot = ports.snapshot();
    this.#trace = new RequestTrace(request.method ?? 'GET');
    response.on('close', () => {
      if (response.writableFinished) return;
      this.#clientGone = true;
      this.#attempts?.clientLeft();
    });
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
    const { method = 'GET', url = '/' } = this.#request;
    this.#checkSender();
    const { path, query } = splitUrl(url);
    if (isModelsPath(path)) return this.#tellModels(method, path);
    if (path === '/usage') return this.#tellUsage(method);
    const match = findRoute(method, path);
    this.#trace.take(match.route);
    const { group, key } = this.#admitKey();
    this.#place = await this.#ports.admission.enter(key, this.#response);
    if (match.route.job?.behaviour === 'lists') return this.#listVideos(group, query);
    const body = await this.#receive(match.route);
    const plan = this.#plan(match, { group, key }, body);
    if (group.capture) this.#capture = new Capture(this.#snapshot.settings.capture.maxBytes, this.#request.headers);
    const asked = match.id !== null && plan.upstreamId ? withJobId(path, plan.upstreamId) : path;
    await this.#ask(plan, { match, group, body, path: asked, query });
  }

  #checkSender(): void {
    const { headers } = this.#request;
    const { allowedHosts, allowedOrigins } = this.#snapshot.settings;
    checkHost(headers.host, allowedHosts);
    checkOrigin(headers.origin, headers.host, allowedOrigins);
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkHops(headers);
  }

  #tellModels(method: string, path: string): void {
    this.#trace.path = path === '/models' ? '/v1/models' : '/v1/models/{model}';
    sendModels(this.#response, { ...this.#admitKey(), path, method, requestId: this.#trace.id });
    this.#answered();
  }

  async #tellUsage(method: string): Promise<void> {
    this.#trace.path = '/v1/usage';
    const { id: requestId, startedAt: nowMs } = this.#trace;
    await sendOwnUsage(this.#ports, this.#response, { ...this.#admitKey(), method, requestId, nowMs });
    this.#answered();
  }

  async #listVideos(group: CompiledGroup, query: string): Promise<void> {
    const call = { ports: this.#ports, group, snapshot: this.#snapshot, query, requestId: this.#trace.id };
    await sendVideoList(this.#response, call);
    this.#answered();
  }

  #admitKey(): Member {
    const key = authenticate(this.#snapshot, this.#request.headers.authorization, this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    return { group, key };
  }

  async #receive(route: Route): Promise<IncomingBody> {
    const { limits } = this.#snapshot.settings;
    const body = await receiveBody(this.#request, this.#response, { route, limits, folder: this.#ports.uploadFolder });
    this.#body = body;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
    return body;
  }

  /** From here on the request counts: it is held to the limits and noted as under way. */
  #plan(match: RouteMatch, { group, key }: Member, body: IncomingBody): CallPlan {
    this.#trace.model = body.fields.model;
    const plan = planCall({ match, fields: body.fields, group, key, snapshot: this.#snapshot, jobs: this.#ports.jobs });
    this.#trace.model = plan.model;
    const call = { requestId: this.#trace.id, route: match.route, key, group, body, plan };
    const reserved = holdToLimits(this.#ports, this.#response, call);
    this.#ports.started(this.#trace.started, reserved);
    return plan;
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
    this.#trace.refused(sendError(this.#request, this.#response, error, this.#trace.id));
  }

  #finish(): void {
    this.#place?.leaveAfter(this.#response);
    const body = this.#body;
    const accounting = accountFor(this.#trace, body, this.#ports.priceOf);
    this.#ports.finished(this.#trace.record(this.#request, accounting));
    if (this.#capture) this.#ports.capture(this.#trace.id, this.#capture.exchange(body));
    body?.dispose();
  }
}
