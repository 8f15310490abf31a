/** One shadow: the request of a client, sent once more to another target, with a record of its own. */
import type { IncomingMessage } from 'node:http';
import { isWireName } from '../../apis/translation/wire-translations.ts';
import type { CapturedExchange } from '../../contract/capture.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord, RequestStarted, Reserved } from '../../contract/ledger.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ShadowedRequest } from '../../contract/shadow.ts';
import type { Limiter } from '../../limits/limiter.ts';
import type { PriceTable } from '../../models/price-table.ts';
import { onlyTarget } from '../../routing/only-target.ts';
import type { CompiledGroup, CompiledShadow } from '../../routing/snapshot.ts';
import { UpstreamAttempts } from '../attempts/upstream-attempts.ts';
import type { UpstreamAttemptsPorts } from '../attempts/upstream-attempts-options.ts';
import { ExchangeCapture } from '../capture/exchange-capture.ts';
import { amountsOf } from '../plan/enforce-limits.ts';
import type { CallPlan } from '../plan/plan.ts';
import { accountFor } from '../record/accounting.ts';
import { RequestTrace } from '../record/exchange-trace.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';
import { nullResponse } from './null-response.ts';
import { isSameAnswer } from './same-answer.ts';

export interface ShadowRequestPorts extends UpstreamAttemptsPorts {
  limiter: Pick<Limiter, 'admitAtOnce' | 'finished' | 'meters'>;
  prices: PriceTable;
  /** Parses a JSON body, as that of a client's request. */
  readBody(bytes: Buffer, isStream: boolean): RequestBody | Promise<RequestBody>;
  started(request: RequestStarted, reserved: Reserved): void;
  finished(record: RequestRecord): void;
  capture(id: string, exchange: CapturedExchange<Buffer>): void;
  /** Called for internal errors. */
  reportError(error: unknown): void;
}

/** A client's request that has ended. */
export interface Shadowed {
  request: IncomingMessage;
  trace: RequestTrace;
  group: CompiledGroup;
  shadow: CompiledShadow;
  settings: Settings;
}

interface PreparedShadow extends Shadowed {
  /** As it was sent for the client. */
  call: OutgoingCall;
  plan: CallPlan;
  bytes: Buffer;
  reserved: Reserved;
}

type Captured = CapturedExchange<Buffer>;

/** A shadow is sent once, and not retried, hedged or continued elsewhere. */
const once = {
  retries: 0,
  fallbacks: 0,
  rescue: 'off',
  hedgeAfterMs: 0,
  retryLostJobs: false,
  onClientGone: 'stop',
  losses: 'tell',
} as const;
const uncounted = { isExceeded: false, add() {}, parse() {}, mayParse: () => true };

export class ShadowRequest {
  readonly #ports: ShadowRequestPorts;
  readonly #prepared: PreparedShadow;
  readonly #trace: RequestTrace;
  readonly #ended = Promise.withResolvers<void>();
  #attempts: UpstreamAttempts | undefined;
  #isStopped = false;

  /** Throws a GatewayError if the limit for the group's shadows is reached, or cannot be read. */
  constructor(ports: ShadowRequestPorts, prepared: PreparedShadow) {
    const { call, plan, request, trace, shadow, reserved } = prepared;
    this.#ports = ports;
    this.#prepared = prepared;
    this.#trace = new RequestTrace(request.method ?? 'POST', trace.presentedKeys);
    this.#trace.take(call.match);
    this.#trace.model = plan.model;
    this.#trace.stream = call.body.fields.stream;
    this.#trace.bytesIn = prepared.bytes.length;
    const most = amountsOf(reserved);
    ports.limiter.admitAtOnce(this.#trace.id, [shadow.limited], { likely: most, most });
  }

  /** Resolves when it is recorded. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * `original`: the client's request.
   * @param clientCapture what the client sent and received; null if that is not kept
   */
  begin(original: RequestRecord, clientCapture: Captured | null): void {
    this.#trace.shadow = { of: shadowedRequestOf(original), groupId: this.#prepared.group.id };
    if (clientCapture !== null) this.#trace.captured = 'shadow';
    this.#ports.started(this.#trace.started, this.#prepared.reserved);
    // Not before the client's own request is recorded.
    setImmediate(() => {
      this.#run(clientCapture)
        .catch(this.#ports.reportError)
        .finally(() => this.#ended.resolve());
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#attempts?.clientLeft();
  }

  async #run(clientCapture: Captured | null): Promise<void> {
    const { request, settings } = this.#prepared;
    const { maxBytes } = settings.capture;
    const { presentedKeys } = this.#trace;
    const capture = clientCapture && new ExchangeCapture({ maxBytes, request, presentedKeys });
    let body: RequestBody | undefined;
    try {
      body = await this.#ports.readBody(this.#prepared.bytes, this.#trace.stream);
      capture?.received(body);
      if (!this.#isStopped) await this.#ask(body, capture);
    } catch (error) {
      if (error instanceof GatewayError) this.#trace.refused(error, error.kind.status);
      else this.#ports.reportError(error);
    }
    try {
      this.#record(body, clientCapture, capture?.exchange(this.#trace) ?? null);
    } finally {
      body?.dispose();
    }
  }

  async #ask(body: RequestBody, capture: ExchangeCapture | null): Promise<void> {
    const { call, plan, request, settings, group } = this.#prepared;
    const options = {
      ports: { ...this.#ports, picker: onlyTarget },
      request,
      response: nullResponse(request),
      settings: { ...settings, keepAliveCommentMs: 0 },
      trace: this.#trace,
      capture,
      tap: capture?.response ?? null,
      faultInjector: null,
    };
    const policy = { ...group.policy, ...once };
    this.#attempts = new UpstreamAttempts(options, plan, {
      ...call,
      group: { ...group, policy },
      body,
      memory: uncounted,
    });
    await this.#attempts.run();
  }

  #record(body: RequestBody | undefined, clientCapture: Captured | null, ownCapture: Captured | null): void {
    const { call, request, reserved } = this.#prepared;
    const { prices, limiter, finished, capture } = this.#ports;
    const accounting = accountFor(this.#trace, body, { prices, reserved: reserved.usage, unfetchable: null });
    const { wire } = call.match.route;
    const isComparable = clientCapture && ownCapture && isWireName(wire.name) && this.#trace.response.outcome === 'ok';
    const sameAnswer = isComparable ? isSameAnswer(wire.name, clientCapture.response, ownCapture.response) : null;
    const record: RequestRecord = { ...this.#trace.record(request, accounting), sameAnswer };
    finished(record);
    // It counts only towards its group's limit for shadows, not towards limits of keys.
    limiter.finished({ ...record, keyId: null, groupId: null });
    if (ownCapture) capture(record.id, ownCapture);
  }
}

function shadowedRequestOf(record: RequestRecord): ShadowedRequest {
  const { id, provider, modelServed, costUsd, firstByteMs, totalMs, usage } = record;
  const outputTokens = usage?.outputTokens ?? null;
  return { id, provider, model: modelServed, costUsd, firstByteMs, totalMs, outputTokens };
}
