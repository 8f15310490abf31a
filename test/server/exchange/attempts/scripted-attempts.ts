/** Attempts that end as scripted. */
import type { Failure } from '../../../../server/apis/core/errors/verdict.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { type Policy, policySchema } from '../../../../server/contract/policy.ts';
import { runAttempts } from '../../../../server/exchange/attempts/attempts.ts';
import { AttemptPlan, type NextAttempt } from '../../../../server/routing/attempt-plan.ts';
import type { AttemptResult, FailureResponse } from '../../../../server/routing/attempt-result.ts';
import type { Picker } from '../../../../server/routing/picker.ts';
import type { Target } from '../../../../server/routing/snapshot.ts';
import { snapshotOf } from '../../../support/providers.ts';
import { attemptRecord, plainPicker } from '../../../support/stand-ins.ts';

export const secrets = Object.fromEntries(
  ['one', 'two', 'three'].flatMap((id) => [`provider/${id}/c1`, `provider/${id}/c2`].map((name) => [name, name])),
);

export const snapshot = snapshotOf(
  {
    providers: ['one', 'two', 'three'].map((id) => ({
      id,
      baseUrl: `https://${id}.example/v1`,
      credentials: [{ id: 'c1' }, { id: 'c2' }],
    })),
  },
  { secrets },
);

export const targets: Target[] = [...snapshot.providers.values()].map((provider, index) => ({
  provider,
  model: 'm',
  priority: index,
  weight: 1,
}));

export const withOneCredential = (target: Target): Target => ({
  ...target,
  provider: { ...target.provider, credentials: target.provider.credentials.slice(0, 1) },
});

export type Step = Partial<Failure> | 'answers' | 'breaks';

export interface Run {
  policy?: Partial<Policy>;
  credentialId?: string | null;
  targets?: Target[];
  picker?: Partial<Picker>;
  /** Milliseconds that each attempt takes, on the plan's own clock. */
  takesMs?: number;
}

/** Runs attempts that end as scripted; the last step is repeated. Waits are recorded but not waited for. */
export async function run(script: Step[], options: Run = {}) {
  const log: string[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const policy = policySchema.parse(options.policy ?? {});
  const picker = { ...plainPicker, ...options.picker };
  const request = {
    policy,
    capability: 'chat' as const,
    isPurchase: false,
    conversation: () => null,
    reasoningOrigin: () => null,
  };
  const plan = new AttemptPlan({
    targets: options.targets ?? targets,
    policy,
    picker,
    request,
    credentialId: options.credentialId ?? null,
    now: () => nowMs,
    random: () => 0.5,
  });
  const start = (next: NextAttempt) => {
    nowMs += next.waitMs + (options.takesMs ?? 0);
    log.push(`${next.target.provider.id}/${next.credential?.id} ${next.cause}`);
    const step = script[Math.min(log.length - 1, script.length - 1)] ?? 'answers';
    return { record: attemptRecord(), hasBegun: () => false, result: Promise.resolve(toResult(step, log.length)) };
  };
  const skipWaits = withoutWaits(plan, waits, (waitMs) => {
    nowMs += waitMs;
  });
  const outcome = await runAttempts({ plan: skipWaits, picker, start, gone: () => new Promise(() => {}) });
  return { log, waits, outcome };
}

/** The same plan with waits that pass at once on its own clock. */
export function withoutWaits(plan: AttemptPlan, waits: number[], pass: (waitMs: number) => void): AttemptPlan {
  const waited = (next: NextAttempt | null) => {
    if (!next || next.waitMs === 0) return next;
    waits.push(next.waitMs);
    pass(next.waitMs);
    return { ...next, waitMs: 0 };
  };
  const after = plan.after.bind(plan);
  const rescue = plan.rescue.bind(plan);
  plan.after = (failed, failure) => waited(after(failed, failure));
  plan.rescue = (failed, failure) => waited(rescue(failed, failure));
  return plan;
}

export function toResult(step: Step, number: number): AttemptResult {
  if (step === 'answers') return { kind: 'answered', failure: null };
  const failure = {
    class: 'transient',
    retryable: true,
    retryAfterMs: null,
    ...(step === 'breaks' ? {} : step),
  } as const;
  return { kind: step === 'breaks' ? 'broken' : 'failed', failure, failureResponse: word(failure.class, number) };
}

export function word(failure: string, number: number): FailureResponse {
  return { kind: 'error', error: new GatewayError('upstream_unreachable', `${failure} ${number}`) };
}

export const transient = {};

export const silent = { class: 'silent', retryable: false } as const;

export const limited = (retryAfterMs: number | null) => ({ class: 'rate-limit', retryAfterMs }) as const;
