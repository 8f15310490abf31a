/**
 * Runs shadow requests: decides which ended requests of a group are repeated at another target. No client waits for a
 * shadow: it begins when the client has its answer, and its cost counts only towards the group's limit for shadows.
 */

import type { Route } from '../../apis/core/route.ts';
import { isWireName } from '../../apis/translation/wire-translations.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { ShadowReport, ShadowSkip } from '../../contract/shadow.ts';
import { anyKeyOf } from '../../routing/any-key.ts';
import { resolveRoute } from '../../routing/resolve.ts';
import type { CompiledGroup, CompiledShadow, Snapshot, Target } from '../../routing/snapshot.ts';
import type { CaptureSwitch } from '../../store/rules/capture-switch.ts';
import { costOf, worstUsageAt } from '../plan/enforce-limits.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';
import { isServedBy } from '../translation/choose-translation.ts';
import { shadowBody } from './shadow-body.ts';
import { type Shadowed, ShadowRequest, type ShadowRequestPorts } from './shadow-request.ts';
import { shadowSkipReason } from './shadow-skip-reason.ts';

export interface ShadowPorts extends ShadowRequestPorts {
  captureSwitch: Pick<CaptureSwitch, 'mayCapture'>;
  /** From 0 up to 1. */
  random(): number;
}

/** A client's request whose key is known. */
interface Arrived extends Pick<Shadowed, 'request' | 'trace' | 'group'> {
  snapshot: Snapshot;
}

/** A client's request that is to get a shadow when it has ended. */
export interface ChosenRequest {
  /** Null if requests of the group may not be captured for comparison with their shadows. */
  readonly captureCause: 'shadow' | null;
  /** What is sent to providers; undefined before. */
  call: OutgoingCall | undefined;
  /**
   * Prepares the shadow and reserves what it may cost. Null, and counted as skipped, if the request gets none after
   * all; otherwise the shadow must be begun.
   */
  prepare(body: RequestBody | undefined): ShadowRequest | null;
}

export class ShadowRunner {
  readonly #ports: ShadowPorts;
  readonly #running = new Set<ShadowRequest>();
  readonly #skipped = new Map<string, Map<ShadowSkip, number>>();
  #isClosed = false;

  constructor(ports: ShadowPorts) {
    this.#ports = ports;
  }

  /** Null if the request is not selected for a shadow. */
  choose(shadow: CompiledShadow, arrived: Arrived): ChosenRequest | null {
    const { group, trace } = arrived;
    if (this.#isClosed || !hasShadows(trace.route) || this.#ports.random() >= shadow.share) return null;
    const { settings } = arrived.snapshot;
    const chosen: ChosenRequest = {
      captureCause: this.#ports.captureSwitch.mayCapture(group.id) ? 'shadow' : null,
      call: undefined,
      prepare: (body) => this.#prepare({ ...arrived, settings, shadow }, chosen.call, body),
    };
    return chosen;
  }

  /** Since the start, by group. */
  get skipped(): ShadowReport['skipped'] {
    return [...this.#skipped].map(([groupId, reasons]) => ({ groupId, reasons: Object.fromEntries(reasons) }));
  }

  /**
   * Starts no further shadows, and aborts those still running when `drained` resolves. Resolves when all are recorded.
   */
  async stopAfter(drained: Promise<void> | undefined): Promise<void> {
    this.#isClosed = true;
    await drained;
    const running = [...this.#running];
    for (const shadow of running) shadow.stop();
    await Promise.all(running.map(({ ended }) => ended));
  }

  #prepare(shadowed: Shadowed, call: OutgoingCall | undefined, body: RequestBody | undefined): ShadowRequest | null {
    const { id } = shadowed.group;
    const prepared = this.#preparedSafely(shadowed, call, body);
    if (prepared === null) return null;
    if (typeof prepared === 'string') {
      const reasons = this.#skipped.get(id) ?? new Map<ShadowSkip, number>();
      this.#skipped.set(id, reasons.set(prepared, (reasons.get(prepared) ?? 0) + 1));
      return null;
    }
    this.#running.add(prepared);
    void prepared.ended.then(() => this.#running.delete(prepared));
    return prepared;
  }

  /** Null for an internal error, which must not affect the client's request. */
  #preparedSafely(
    shadowed: Shadowed,
    call: OutgoingCall | undefined,
    body: RequestBody | undefined,
  ): ShadowRequest | ShadowSkip | null {
    try {
      return this.#prepared(shadowed, call, body);
    } catch (error) {
      this.#ports.reportError(error);
      return null;
    }
  }

  #prepared(
    shadowed: Shadowed,
    call: OutgoingCall | undefined,
    body: RequestBody | undefined,
  ): ShadowRequest | ShadowSkip {
    const { trace, shadow } = shadowed;
    const skip = shadowSkipReason(trace, body);
    if (skip !== null || !call || !body) return skip ?? 'not-answered';
    const plan = planFor(shadow, shadowed.group, call);
    const [target] = plan?.targets ?? [];
    if (!plan || !target || this.#isClosed) return 'unavailable';
    if (isAnsweredBy(target, trace)) return 'same-target';
    const { wire } = call.match.route;
    const bytes = shadowBody(wire.name, body);
    if (bytes === null) return 'side-effects';
    const reserved = this.#reserved(plan, target, call, body);
    if (reserved === null) return 'unpriced';
    const full = this.#whyFull(shadow, reserved.costUsd);
    if (full !== null) return full;
    try {
      return new ShadowRequest(this.#ports, { ...shadowed, call, plan, bytes, reserved });
    } catch (error) {
      // Today's spending cannot be read.
      if (error instanceof GatewayError) return 'daily-limit';
      throw error;
    }
  }

  #reserved(plan: CallPlan, target: Target, { match }: OutgoingCall, body: RequestBody) {
    const { prices } = this.#ports;
    const usage = worstUsageAt(prices, target, { route: match.route, body, plan });
    const costUsd = costOf(prices, target, plan, usage);
    return costUsd === null ? null : { usage, costUsd };
  }

  /** Unlike a client's budget, which its last request may exceed, this one holds in the worst case, too. */
  #whyFull({ limited }: CompiledShadow, mostUsd: number): ShadowSkip | null {
    for (const { kind, used, amount } of this.#ports.limiter.meters(limited)) {
      if (kind === 'concurrent' && used >= amount) return 'busy';
      if (kind === 'budget' && used + mostUsd > amount) return 'daily-limit';
    }
    return null;
  }
}

/** Whether requests of the route are conversations that a provider answers. */
function hasShadows(route: Route | null): boolean {
  if (!route || !isWireName(route.wire.name) || route.isFree || route.session || route.method !== 'POST') return false;
  return route.job === null || route.job.behaviour === 'creates';
}

/** Null if the group cannot use the target now, or the target does not serve the request. */
function planFor({ target: model }: CompiledShadow, group: CompiledGroup, { match }: OutgoingCall): CallPlan | null {
  try {
    const { targets } = resolveRoute(group, anyKeyOf(group), model);
    const first = targets.find((target) => isServedBy(target, match.route, model));
    return first ? { model, targets: [first], credentialId: null } : null;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

function isAnsweredBy({ provider, model }: Target, { answering }: RequestTrace): boolean {
  return answering?.record.provider === provider.id && answering.record.model === model;
}
