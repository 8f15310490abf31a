/**
 * The data plane: one request of `/v1` from its key to the last byte of its answer, station by station. Decides nothing
 * by itself: guards, routes, plan and attempts do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { RequestRecord, RequestStarted } from '../contract/ledger.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { type Attempt, type AttemptResult, runAttempts } from '../routing/run-attempts.ts';
import type { CompiledCredential, CompiledGroup, CompiledKey, Snapshot, Target } from '../routing/snapshot.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { accountFor, type PriceOf } from './accounting.ts';
import { Capture, type CapturedBodies } from './capture.ts';
import { followContent, withoutSignature } from './content-redirect.ts';
import { allowOrigin } from './cors.ts';
import { countChoices } from './count-choices.ts';
import { authenticate, checkHost, checkOrigin } from './guards.ts';
import { findRoute, type InferenceRoute, splitUrl } from './inference-routes.ts';
import { jobWatcher } from './job-watcher.ts';
import { isModelsPath, sendModels } from './models.ts';
import type { IncomingBody } from './outgoing-body.ts';
import { type OutgoingCall, outgoingRequest } from './outgoing-request.ts';
import { type CallPlan, planCall } from './plan-call.ts';
import { ClientGone } from './read-body.ts';
import { receiveBody } from './receive-body.ts';
import { redactText } from './redact-credential.ts';
import type { ReplyInspector } from './reply-inspector.ts';
import { ReplyRelay } from './reply-relay.ts';
import { checkHops } from './request-headers.ts';
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
  capture(id: string, bodies: CapturedBodies): void;
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
  /** Null if its group does not want bodies kept. */
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
    if (group.capture) this.#capture = new Capture(this.#snapshot.settings.capture.maxBytes);
    await this.#ask(plan, { match, group, body, path, query });
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

  async #ask(plan: CallPlan, call: OutgoingCall): Promise<void> {
    const attempt: Attempt = (target, credential) => this.#attempt(call, target, credential);
    await runAttempts(plan.targets, attempt, plan.credentialId);
    if (this.#relay) this.#trace.reply = this.#relay.reply;
  }

  async #attempt(call: OutgoingCall, target: Target, credential: CompiledCredential | null): Promise<AttemptResult> {
    const { route } = call.match;
    const askUsage = target.provider.askUsage && route.stream === 'chat';
    const sendable = await call.body.sendable(target.model, askUsage);
    if (this.#clientGone) throw new ClientGone();
    const attempt = this.#trace.attempt(target, credential?.id ?? null);
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
        inspectors: this.#inspectors(call, target, credential),
      });
      this.#relay = relay;
      relay.attach(this.#ports.transport.send(request, relay));
      return relay.result;
    };
    const request = outgoingRequest(this.#request, call, { target, credential, sendable });
    const first = await send(request);
    const result = route.content ? await followContent(first, request, this.#request.headers, send) : first;
    if (result.kind !== 'redirected') return result;
    return { ...result, location: redactText(withoutSignature(result.location), credential) };
  }

  /** One watches for the id of a new job, one keeps the reply's beginning where the group wants that. */
  #inspectors(call: OutgoingCall, target: Target, credential: CompiledCredential | null): ReplyInspector[] {
    const watch = jobWatcher(this.#ports.jobs, {
      match: call.match,
      store: call.body.fields.store,
      owner: {
        groupId: call.group.id,
        keyId: this.#trace.key?.id ?? '',
        providerId: target.provider.id,
        credentialId: credential?.id ?? null,
        model: target.model ?? this.#trace.model,
      },
    });
    this.#capture?.restart(credential);
    return [watch, this.#capture].filter((inspector) => inspector !== null);
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
    const body = this.#body;
    const accounting = accountFor(this.#trace, body, this.#ports.priceOf);
    this.#ports.finished(this.#trace.record(this.#request, accounting));
    if (this.#capture) this.#ports.capture(this.#trace.id, this.#capture.bodies(body));
    body?.dispose();
  }
}
