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
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { accountFor, type PriceOf } from './accounting.ts';
import { followContent, withoutSignature } from './content-redirect.ts';
import { allowOrigin } from './cors.ts';
import { countChoices } from './count-choices.ts';
import { authenticate, checkHost, checkOrigin } from './guards.ts';
import { findRoute, type InferenceRoute, type RouteMatch, splitUrl } from './inference-routes.ts';
import { jobWatcher } from './job-watcher.ts';
import { isModelsPath, sendModels } from './models.ts';
import type { IncomingBody } from './outgoing-body.ts';
import { type CallPlan, planCall } from './plan-call.ts';
import { ClientGone } from './read-body.ts';
import { receiveBody } from './receive-body.ts';
import { redactBytes, redactText } from './redact-credential.ts';
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
  try {
    await new InferenceCall(ports, request, response).run();
  } catch (thrown) {
    ports.faulted(thrown);
  }
}

class InferenceCall {
  readonly #ports: InferencePorts;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #snapshot: Snapshot;
  readonly #trace: RequestTrace;
  #body: IncomingBody | undefined;
  #relay: ReplyRelay | undefined;
  /** Of the latest attempt. */
  #credential: CompiledCredential | null = null;
  /** The beginning of the reply, if its group wants it kept. */
  #captured: Buffer[] | undefined;
  #capturedBytes = 0;
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
    if (headers.origin !== undefined) allowOrigin(this.#response, headers.origin);
    checkHops(headers);
    const { path, query } = splitUrl(url);
    if (isModelsPath(path)) {
      this.#trace.path = path === '/models' ? '/v1/models' : '/v1/models/{model}';
      const { group, key } = this.#admitKey();
      sendModels(this.#response, { group, key, path, method, requestId: this.#trace.id });
      this.#answered();
      return;
    }
    const match = findRoute(method, path);
    this.#trace.take(match.route);
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
    this.#trace.model = body.fields.model;
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
      this.#trace.errorCode = this.#relay.errorCode;
      this.#trace.status = this.#response.headersSent ? this.#response.statusCode : null;
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
    const { provider } = target;
    const { route } = match;
    const sendable = await call.body.sendable(target.model, provider.askUsage && route.stream === 'chat');
    if (this.#clientGone) throw new ClientGone();
    const attempt = this.#trace.attempt(target, credential?.id ?? null);
    this.#credential = credential;
    const send = (request: OutgoingRequest) => {
      const relay = new ReplyRelay({
        response: this.#response,
        requestId: this.#trace.id,
        attempt,
        credential,
        tail: this.#trace.tail,
        protocol: route.stream ?? null,
        choices: call.body.fields.stream ? countChoices(route, call.body) : 1,
        stripUsage: sendable.usageAsked,
        keepAliveMs: this.#snapshot.settings.keepAliveCommentMs,
        inspector: this.#inspector(match, call, target, credential),
      });
      this.#relay = relay;
      relay.attach(this.#ports.transport.send(request, relay));
      return relay.result;
    };
    const headers = outgoingHeaders(this.#request.headers, provider, credential);
    if (route.body === 'none') delete headers['content-type'];
    else describeBody(headers, call.body, sendable.length);
    const request: OutgoingRequest = {
      origin: provider.endpoint.origin,
      method: this.#request.method ?? route.method,
      path: provider.dialect.address(provider.endpoint, call.path, call.query, target.model),
      headers,
      body: route.body === 'none' ? null : sendable.open(),
      timeouts: provider.timeouts,
      proxy: provider.proxy,
    };
    const first = await send(request);
    const result = route.content ? await followContent(first, request, this.#request.headers, send) : first;
    if (result.kind !== 'redirected') return result;
    return { ...result, location: redactText(withoutSignature(result.location), credential) };
  }

  /** Watches a reply for the id of a new job, and keeps its beginning where the group wants that. */
  #inspector(match: RouteMatch, call: OutgoingCall, target: Target, credential: CompiledCredential | null) {
    const watch = jobWatcher(this.#ports.jobs, {
      match,
      store: call.body.fields.store,
      owner: {
        groupId: call.group.id,
        keyId: this.#trace.key?.id ?? '',
        providerId: target.provider.id,
        credentialId: credential?.id ?? null,
        model: target.model ?? this.#trace.model,
      },
    });
    if (!this.#captured) return watch;
    // What an attempt before this one left behind never reached the client.
    this.#captured = [];
    this.#capturedBytes = 0;
    return {
      begin: (status: number, contentType: string) => watch?.begin(status, contentType),
      take: (chunk: Buffer) => {
        watch?.take(chunk);
        this.#captureReply(chunk);
      },
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
      const response = redactBytes(Buffer.concat(this.#captured), this.#credential);
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

/** JSON that came under another name (`curl -d` sends a form's) goes on under its own. */
function describeBody(headers: Record<string, string>, body: IncomingBody, length: number): void {
  headers['content-length'] = String(length);
  const isNamedJson = /^application\/([\w.+-]+\+)?json\b/i.test(headers['content-type'] ?? '');
  if (body.contentType === 'application/json' && !isNamedJson) headers['content-type'] = 'application/json';
}
