/**
 * The data plane: one request of `/v1` from its key to the last byte of its answer, station by station. Decides nothing
 * by itself: guards, routes, plan and attempts do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { type AttemptResult, runAttempts } from '../routing/run-attempts.ts';
import type { CompiledCredential, CompiledGroup, CompiledKey, Snapshot, Target } from '../routing/snapshot.ts';
import type { Transport } from '../transport/transport.ts';
import { accountFor, type PriceOf } from './accounting.ts';
import { authenticate, checkHost, checkOrigin } from './guards.ts';
import { type InferenceRoute, matchRoute, type RouteMatch } from './inference-routes.ts';
import { jobWatcher } from './job-watcher.ts';
import { isModelsPath, sendModels } from './models.ts';
import type { IncomingBody } from './outgoing-body.ts';
import { type CallPlan, planCall } from './plan-call.ts';
import { ClientGone } from './read-body.ts';
import { receiveBody } from './receive-body.ts';
import { ReplyRelay } from './reply-relay.ts';
import { checkHops, outgoingHeaders } from './request-headers.ts';
import { RequestTrace } from './request-trace.ts';
import { sendError, toGatewayError } from './send-error.ts';
import { sendVideoList } from './video-list.ts';

export interface InferencePorts {
  /** The current one; a request takes it once. */
  snapshot(): Snapshot;
  transport: Transport;
  jobs: JobStore;
  /** Where uploads are spooled. */
  uploadFolder: string;
  started(request: RequestStarted): void;
  finished(record: RequestRecord): void;
  /** Keeps bodies, for groups that want it. */
  capture(id: string, bodies: { request?: Buffer; response?: Buffer }): void;
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
  const call = new InferenceCall(ports, request, response);
  await call.run();
}

class InferenceCall {
  readonly #ports: InferencePorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #snapshot: Snapshot;
  readonly #trace = new RequestTrace();
  #body: IncomingBody | undefined;
  #relay: ReplyRelay | undefined;
  /** The beginning of the reply, if its group wants it kept. */
  #captured: Buffer[] | undefined;
  #capturedBytes = 0;
  #clientGone = false;

  constructor(ports: InferencePorts, request: IncomingMessage, response: ServerResponse) {
    this.#ports = ports;
    this.#request = request;
    this.#response = response;
    this.#snapshot = ports.snapshot();
    response.on('close', () => {
      if (response.writableFinished) return;
      this.#clientGone = true;
      this.#relay?.clientLeft();
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
    const { headers, method = 'GET', url = '/' } = this.#request;
    const { settings } = this.#snapshot;
    checkHost(headers.host, settings.allowedHosts);
    checkOrigin(headers.origin, headers.host, settings.allowedOrigins);
    checkHops(headers);
    const { path, query } = splitUrl(url);
    if (isModelsPath(path)) {
      const { group, key } = this.#admitKey();
      sendModels(this.#response, { group, key, path, method, requestId: this.#trace.id });
      this.#answered();
      return;
    }
    const match = findRoute(method, path);
    this.#trace.route = match.route;
    const { group, key } = this.#admitKey();
    if (match.route.job?.behaviour === 'lists') {
      await sendVideoList(this.#response, {
        ports: this.#ports,
        group,
        snapshot: this.#snapshot,
        query,
        requestId: this.#trace.id,
      });
      this.#answered();
      return;
    }
    const body = await this.#receive(match.route);
    const plan = planCall({ match, fields: body.fields, group, key, snapshot: this.#snapshot, jobs: this.#ports.jobs });
    this.#trace.model = plan.model;
    this.#ports.started(this.#trace.started);
    if (group.capture) this.#captured = [];
    await this.#ask(plan, match, { group, body, path, query });
  }

  #admitKey(): { group: CompiledGroup; key: CompiledKey } {
    const key = authenticate(this.#snapshot, this.#request.headers.authorization, this.#trace.startedAt);
    this.#trace.key = key;
    const group = this.#snapshot.group(key.groupId);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" names a group that is not there.`);
    return { group, key };
  }

  async #receive(route: InferenceRoute): Promise<IncomingBody> {
    const { limits } = this.#snapshot.settings;
    const body = await receiveBody(this.#request, this.#response, { route, limits, folder: this.#ports.uploadFolder });
    this.#body = body;
    this.#trace.bytesIn = body.size;
    this.#trace.stream = body.fields.stream;
    return body;
  }

  async #ask(plan: CallPlan, match: RouteMatch, call: OutgoingCall): Promise<void> {
    const attempt = (target: Target, credential: CompiledCredential | null) =>
      this.#attempt(target, credential, match, call);
    await runAttempts(plan.targets, attempt, plan.credentialId);
    if (this.#relay) {
      this.#trace.outcome = this.#relay.outcome;
      this.#trace.bytesOut = this.#relay.bytesOut;
      this.#trace.replyType = this.#relay.contentType;
    }
  }

  async #attempt(
    target: Target,
    credential: CompiledCredential | null,
    match: RouteMatch,
    call: OutgoingCall,
  ): Promise<AttemptResult> {
    if (this.#clientGone) throw new ClientGone();
    const { provider } = target;
    const { route } = match;
    const attempt = this.#trace.attempt(target, credential?.id ?? null);
    const sendable = await call.body.sendable(target.model, provider.askUsage && route.stream === 'chat');
    const relay = new ReplyRelay({
      response: this.#response,
      requestId: this.#trace.id,
      attempt,
      tail: this.#trace.tail,
      protocol: route.stream ?? null,
      stripUsage: sendable.usageAsked,
      keepAliveMs: this.#snapshot.settings.keepAliveCommentMs,
      inspect: this.#inspector(match, call, target, credential),
    });
    this.#relay = relay;
    const headers = outgoingHeaders(this.#request.headers, provider, credential);
    if (route.body === 'none') delete headers['content-type'];
    else headers['content-length'] = String(sendable.length);
    if (call.body.contentType === 'application/json' && !isJson(headers['content-type']))
      headers['content-type'] = 'application/json';
    relay.attach(
      this.#ports.transport.send(
        {
          origin: provider.endpoint.origin,
          method: this.#request.method ?? route.method,
          path: provider.dialect.address(provider.endpoint, call.path, call.query, target.model),
          headers,
          body: route.body === 'none' ? null : sendable.open(),
          timeouts: provider.timeouts,
          proxy: provider.proxy,
        },
        relay,
      ),
    );
    return relay.result;
  }

  /** Watches a reply for the id of a new job, and keeps its beginning where the group wants that. */
  #inspector(match: RouteMatch, call: OutgoingCall, target: Target, credential: CompiledCredential | null) {
    const watch = jobWatcher(this.#ports.jobs, {
      match,
      store: call.body.fields.store,
      status: () => this.#trace.attempts.at(-1)?.status ?? 0,
      owner: {
        groupId: call.group.id,
        keyId: this.#trace.key?.id ?? '',
        providerId: target.provider.id,
        credentialId: credential?.id ?? null,
        model: target.model,
      },
    });
    if (!this.#captured) return watch;
    return (chunk: Buffer) => {
      watch?.(chunk);
      this.#captureReply(chunk);
    };
  }

  #captureReply(chunk: Buffer): void {
    if (this.#capturedBytes >= this.#snapshot.settings.capture.maxBytes) return;
    this.#captured?.push(chunk);
    this.#capturedBytes += chunk.length;
  }

  #answered(): void {
    this.#trace.outcome = 'ok';
    this.#trace.status = this.#response.statusCode;
  }

  #refuse(thrown: unknown): void {
    if (thrown instanceof ClientGone || this.#clientGone) {
      this.#trace.outcome = 'client-gone';
      return;
    }
    if (!(thrown instanceof GatewayError)) this.#ports.faulted(thrown);
    const error = toGatewayError(thrown);
    this.#trace.refused(sendError(this.#request, this.#response, error, this.#trace.id));
  }

  #finish(): void {
    const body = this.#body;
    const accounting = accountFor(this.#trace, body, this.#ports.priceOf);
    this.#ports.finished(this.#trace.record(this.#request, accounting));
    if (this.#captured) {
      const response = Buffer.concat(this.#captured);
      this.#ports.capture(this.#trace.id, { response, ...(body?.captured && { request: body.captured }) });
    }
    body?.dispose();
  }
}

interface OutgoingCall {
  group: CompiledGroup;
  body: IncomingBody;
  /** Below `/v1`, percent-encoded as the client sent it. */
  path: string;
  query: string;
}

/** A base URL that was given with `/v1` twice is meant once. */
function splitUrl(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  const whole = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  let path = whole.slice('/v1'.length);
  while (path.startsWith('/v1/')) path = path.slice('/v1'.length);
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
  return { path, query };
}

function findRoute(method: string, path: string): RouteMatch {
  const match = matchRoute(method, path);
  if (match && 'route' in match) return match;
  if (match) {
    throw new GatewayError(
      'method_not_allowed',
      `Not allowed to ${method} on /v1${path}. Allowed: ${match.allowed.join(', ')}.`,
    );
  }
  throw new GatewayError('unknown_url', `Invalid URL (${method} /v1${path.slice(0, 200)}).`);
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/([\w.+-]+\+)?json\b/i.test(contentType);
}
