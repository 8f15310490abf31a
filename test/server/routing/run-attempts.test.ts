import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import { type Policy, policySchema } from '../../../server/contract/policy.ts';
import { AttemptPlan, type NextAttempt } from '../../../server/routing/attempt-plan.ts';
import type { AttemptResult, FailureResponse } from '../../../server/routing/attempt-result.ts';
import type { Picker } from '../../../server/routing/picker.ts';
import { runAttempts } from '../../../server/routing/run-attempts.ts';
import type { Target } from '../../../server/routing/snapshot.ts';
import type { Failure } from '../../../server/wire/failure.ts';
import { attemptRecord } from '../../support/attempt-record.ts';
import { plainPicker } from '../../support/plain-picker.ts';
import { snapshotOf } from '../../support/providers.ts';

const secrets = Object.fromEntries(
  ['one', 'two', 'three'].flatMap((id) => [`provider/${id}/c1`, `provider/${id}/c2`].map((name) => [name, name])),
);
const snapshot = snapshotOf(
  {
    providers: ['one', 'two', 'three'].map((id) => ({
      id,
      baseUrl: `https://${id}.example/v1`,
      credentials: [{ id: 'c1' }, { id: 'c2' }],
    })),
  },
  { secrets },
);
const targets: Target[] = [...snapshot.providers.values()].map((provider, index) => ({
  provider,
  model: 'm',
  priority: index,
  weight: 1,
}));

const withOneCredential = (target: Target): Target => ({
  ...target,
  provider: { ...target.provider, credentials: target.provider.credentials.slice(0, 1) },
});

type Step = Partial<Failure> | 'answers' | 'breaks';

interface Run {
  policy?: Partial<Policy>;
  credentialId?: string | null;
  targets?: Target[];
  picker?: Partial<Picker>;
  /** Milliseconds that each attempt takes, on the plan's own clock. */
  takesMs?: number;
}

/** Runs attempts that end as the script says; the last step goes on for ever. Waits are noted, not waited. */
async function run(script: Step[], options: Run = {}) {
  const log: string[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const policy = policySchema.parse(options.policy ?? {});
  const picker = { ...plainPicker, ...options.picker };
  const request = { policy, capability: 'chat' as const, conversation: () => null, reasoningOrigin: () => null };
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

/** The same plan, whose waits pass on its own clock at once. */
function withoutWaits(plan: AttemptPlan, waits: number[], pass: (waitMs: number) => void): AttemptPlan {
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

function toResult(step: Step, number: number): AttemptResult {
  if (step === 'answers') return { kind: 'answered', failure: null };
  const failure = {
    class: 'transient',
    retryable: true,
    retryAfterMs: null,
    ...(step === 'breaks' ? {} : step),
  } as const;
  return { kind: step === 'breaks' ? 'broken' : 'failed', failure, failureResponse: word(failure.class, number) };
}

function word(failure: string, number: number): FailureResponse {
  return { kind: 'error', error: new GatewayError('upstream_unreachable', `${failure} ${number}`) };
}

const told = (outcome: Awaited<ReturnType<typeof run>>['outcome']) =>
  outcome.kind === 'unanswered' && outcome.failureResponse.kind === 'error'
    ? outcome.failureResponse.error.message
    : outcome.kind;

const transient = {};
const silent = { class: 'silent', retryable: false } as const;
const limited = (retryAfterMs: number | null) => ({ class: 'rate-limit', retryAfterMs }) as const;
const quota = { class: 'quota', retryable: false } as const;
const refused = { class: 'credential', retryable: false } as const;

describe('who is asked next', () => {
  test.each<[string, Step[], string[]]>([
    ['nobody after an answer', ['answers'], ['one/c1 first']],
    ['the same target once more after a fleeting failure', [transient, 'answers'], ['one/c1 first', 'one/c1 retry']],
    [
      'then the next, and what is left of the retries at the last',
      [transient],
      ['one/c1 first', 'one/c1 retry', 'two/c1 fallback', 'two/c1 retry'],
    ],
    ['the next at once after a silence', [silent, 'answers'], ['one/c1 first', 'two/c1 fallback']],
    ['nobody twice where all are silent', [silent], ['one/c1 first', 'two/c1 fallback']],
    ['nobody after a refusal of the request', [{ class: 'rejected', retryable: false }], ['one/c1 first']],
    [
      'another credential after a rate limit, a used-up quota or a bad credential',
      [limited(60_000), 'answers'],
      ['one/c1 first', 'one/c2 retry'],
    ],
    ['no credential twice', [quota, refused], ['one/c1 first', 'one/c2 retry', 'two/c1 fallback', 'two/c2 retry']],
    [
      'another target where the model is not there, whatever its credentials',
      [{ class: 'model-unavailable', retryable: false }, 'answers'],
      ['one/c1 first', 'two/c1 fallback'],
    ],
    [
      'nobody where the request is too large and no model is known to be larger',
      [{ class: 'too-large', retryable: false }],
      ['one/c1 first'],
    ],
  ])('%s', async (_name, script, wanted) => {
    const { log } = await run(script, { policy: { retries: 2, fallbacks: 1 } });
    expect(log).toEqual(wanted);
  });

  test('is never more than the budget allows, however many targets and credentials there are', async () => {
    for (const step of [transient, silent, limited(null), limited(100), quota, refused]) {
      for (const [retries, fallbacks] of [
        [0, 0],
        [2, 1],
        [1, 2],
        [3, 0],
      ] as const) {
        const { log } = await run([step], { policy: { retries, fallbacks } });
        expect(log.length).toBeLessThanOrEqual(1 + retries + fallbacks);
      }
    }
  });

  test('goes back to a target that may have recovered when the last one refuses for good', async () => {
    const { log } = await run([transient, transient, refused, refused, 'answers'], {
      policy: { retries: 3, fallbacks: 1 },
    });
    expect(log).toEqual(['one/c1 first', 'one/c1 retry', 'two/c1 fallback', 'two/c2 retry', 'one/c1 retry']);
  });

  test('gives the last retry to a fallback that told when to come again, not to a target that failed twice', async () => {
    const [one, two] = targets.map(withOneCredential);
    const script = [transient, transient, limited(2_000), 'answers'] as const;
    const { log, waits } = await run([...script], { targets: one && two ? [one, two] : [] });
    expect(log).toEqual(['one/c1 first', 'one/c1 retry', 'two/c1 fallback', 'two/c1 retry']);
    expect(waits.at(-1)).toBe(2_000);
  });

  test('is a target that failed twice where the fallback asks for more time than there is', async () => {
    const [one, two] = targets.map(withOneCredential);
    const script = [transient, transient, limited(60_000), 'answers'] as const;
    const { log } = await run([...script], { targets: one && two ? [one, two] : [] });
    expect(log.at(-1)).toBe('one/c1 retry');
  });

  test('is the pinned credential alone, and no other target of a job', async () => {
    const [own] = targets;
    const { log } = await run([quota], { credentialId: 'c2', targets: own ? [own] : [] });
    expect(log).toEqual(['one/c2 first']);
  });

  test('is the best target even where the picker would rather ask none', async () => {
    const { log } = await run(['answers'], { picker: { credentials: () => [] } });
    expect(log).toEqual(['one/c1 first']);
  });

  test('passes over targets that are not to be asked now', async () => {
    const credentials: Picker['credentials'] = (target, request) =>
      target.provider.id === 'two' ? [] : plainPicker.credentials(target, request);
    const { log } = await run([silent, 'answers'], { picker: { credentials } });
    expect(log).toEqual(['one/c1 first', 'three/c1 fallback']);
  });

  test('is not a target that fails in other requests too', async () => {
    let failures = 0;
    const picker = { mayBeAsked: () => failures === 0, report: () => void failures++ };
    expect((await run([transient, 'answers'], { picker })).log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('is nobody twice of those that were in bad health before this request, and were asked for want of others', async () => {
    const picker = { mayBeAsked: () => false };
    const { log } = await run([transient], { picker, policy: { retries: 5, fallbacks: 1 } });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('is, where nobody else is left, a target that this request alone brought into bad health', async () => {
    let failures = 0;
    const picker = { mayBeAsked: () => failures === 0, report: () => void failures++ };
    const { log } = await run([transient], { picker, policy: { retries: 5, fallbacks: 0 } });
    expect(log).toHaveLength(6);
  });

  test('is a target in bad health once more where it broke off in mid-answer', async () => {
    const picker = { mayBeAsked: () => false };
    const { log } = await run(['breaks', 'answers'], { picker, policy: { fallbacks: 0 } });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue']);
  });

  test('is a target that fails in other requests too, where it told for how long', async () => {
    const { log } = await run([{ retryAfterMs: 200 }, 'answers'], { picker: { mayBeAsked: () => false } });
    expect(log[1]).toBe('one/c1 retry');
  });

  test('is a larger model where one is known', async () => {
    const sized = (target: Target, contextTokens: number): Target => ({
      ...target,
      provider: { ...target.provider, models: new Map([['m', { created: 0, ownedBy: 'x', contextTokens }]]) },
    });
    const [one, two, three] = targets as [Target, Target, Target];
    const tooLarge = { class: 'too-large', retryable: false, contextTokens: 8_192 } as const;
    const { log } = await run([tooLarge, 'answers'], { targets: [one, sized(two, 8_192), sized(three, 128_000)] });
    expect(log).toEqual(['one/c1 first', 'three/c1 fallback']);
  });

  test('is, where the request is too large, another model of unknown size, once', async () => {
    const named = targets.map((target, index) => ({ ...target, model: ['small', 'other', 'third'][index] ?? '' }));
    const { log } = await run([{ class: 'too-large', retryable: false }], { targets: named });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('is never the same model of another provider, nor one that is known to be smaller, where the request is too large', async () => {
    const tooLarge = { class: 'too-large', retryable: false, contextTokens: 8_192 } as const;
    const [one, two, three] = targets as [Target, Target, Target];
    const others = [one, { ...two, model: 'maker/M' }, { ...three, model: 'tiny', contextTokens: 4_096 }];
    expect((await run([tooLarge], { targets: others })).log).toEqual(['one/c1 first']);
  });

  test('is a model known to be larger also where a guess before it was wrong', async () => {
    const [one, two, three] = targets as [Target, Target, Target];
    const sized = [
      { ...one, contextTokens: 8_192 },
      { ...two, model: 'other' },
      { ...three, contextTokens: 128_000 },
    ];
    const { log } = await run([{ class: 'too-large', retryable: false }], { targets: sized });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback', 'three/c1 fallback']);
  });

  test('is a target, or provider, whose declared context is larger, whatever its list of models says', async () => {
    const tooLarge = { class: 'too-large', retryable: false, contextTokens: 8_192 } as const;
    const [one, two, three] = targets as [Target, Target, Target];
    const declared = { ...three, provider: { ...three.provider, contextTokens: 200_000 } };
    const { log } = await run([tooLarge], { targets: [one, { ...two, contextTokens: 128_000 }, declared] });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback', 'three/c1 fallback']);
  });

  test('after a break in mid-answer is the next target, then one that may have recovered', async () => {
    const { log } = await run(['breaks', 'breaks', 'answers'], { policy: { retries: 1, fallbacks: 1 } });
    expect(log).toEqual(['one/c1 first', 'two/c1 rescue', 'two/c1 rescue']);
  });
});

describe('how long is waited', () => {
  test('is a random part of a time that doubles', async () => {
    const { waits } = await run([transient], { policy: { retries: 6, fallbacks: 0 } });
    expect(waits).toEqual([125, 250, 500, 1_000, 2_000, 2_000]);
  });

  test('is what the upstream asked for where that is short, though there are others', async () => {
    const [one, two] = targets.map(withOneCredential);
    const both = [one, two].filter((target) => target !== undefined);
    expect(await run([limited(1_500), 'answers'], { targets: both })).toMatchObject({
      log: ['one/c1 first', 'one/c1 retry'],
      waits: [1_500],
    });
    expect(await run([limited(2_500), 'answers'], { targets: both })).toMatchObject({
      log: ['one/c1 first', 'two/c1 fallback'],
      waits: [],
    });
  });

  test('is up to ten seconds where nobody else is left, and not a moment where that is not enough', async () => {
    const policy = { retries: 2, fallbacks: 0 };
    const only = { policy, credentialId: 'c1' };
    expect(await run([limited(8_000), 'answers'], only)).toMatchObject({
      waits: [8_000],
      outcome: { kind: 'answered' },
    });
    expect(await run([limited(60_000)], only)).toMatchObject({ waits: [], log: ['one/c1 first'] });
  });

  test('is never longer than the time that is left', async () => {
    const policy = { retries: 2, fallbacks: 0, budgetMs: 5_000 };
    expect(await run([limited(8_000)], { policy, credentialId: 'c1' })).toMatchObject({ waits: [] });
    const { log } = await run([transient], { policy: { budgetMs: 5_000, retries: 20 }, takesMs: 2_000 });
    expect(log).toHaveLength(3);
  });
});

describe('the time budget', () => {
  const budgetMs = 120_000;

  test('does not keep a request from its first fallback, however long the first target was silent', async () => {
    const { log } = await run([silent, 'answers'], { policy: { budgetMs }, takesMs: 600_000 });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('ends retries and further fallbacks', async () => {
    for (const failure of [silent, transient]) {
      const { log } = await run([failure], { policy: { budgetMs }, takesMs: 600_000 });
      expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
    }
  });

  test('begins anew where an answer breaks off that flowed for longer', async () => {
    const { log } = await run(['breaks', 'answers'], { policy: { budgetMs, fallbacks: 0 }, takesMs: 600_000 });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue']);
  });

  test('is no longer for the rest of an answer than for a whole one', async () => {
    const policy = { budgetMs, fallbacks: 0, retries: 10 };
    const { log } = await run(['breaks', transient], { policy, takesMs: 50_000 });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue', 'one/c1 rescue', 'one/c1 rescue']);
  });
});

describe('what is told when nobody answers', () => {
  test.each<[string, Step[], string]>([
    ['a rate limit over a failure of the next', [limited(60_000), limited(60_000), transient], 'rate-limit 2'],
    ['what a client may mend over all', [transient, { class: 'too-large', retryable: false }], 'too-large 2'],
    ['the later of equals', [silent, silent], 'silent 2'],
    [
      'that a target is badly configured over one that cannot be reached',
      [refused, refused, transient],
      'credential 2',
    ],
    ['the break, where the answer had begun', ['breaks', limited(null)], 'transient 1'],
  ])('is %s', async (_name, script, wanted) => {
    const { outcome } = await run(script, { policy: { retries: 1, fallbacks: 1 } });
    expect(told(outcome)).toBe(wanted);
  });
});

test('without targets fails as `no_healthy_provider`', async () => {
  await expect(run(['answers'], { targets: [] })).rejects.toMatchObject({ code: 'no_healthy_provider' });
});

test('each attempt is begun and reported once', async () => {
  const log: string[] = [];
  const picker: Partial<Picker> = {
    began: ({ provider }, credentialId) => log.push(`began ${provider.id}/${credentialId}`),
    report: ({ target, failure, retryAfterMs }) => log.push(`${target.provider.id} ${failure} ${retryAfterMs}`),
  };
  await run([limited(60_000), silent, 'answers'], { picker });
  expect(log).toEqual([
    'began one/c1',
    'one rate-limit 60000',
    'began one/c2',
    'one silent null',
    'began two/c1',
    'two null null',
  ]);
});

test('passes on what an attempt throws, and asks nobody else', async () => {
  const thrown = new Error('a fault inside');
  let attempts = 0;
  const policy = policySchema.parse({});
  const request = { policy, capability: 'chat' as const, conversation: () => null, reasoningOrigin: () => null };
  const options = { targets, policy, picker: plainPicker, request, credentialId: null, now: () => 0, random: () => 0 };
  const running = runAttempts({
    plan: new AttemptPlan(options),
    picker: plainPicker,
    gone: () => new Promise(() => {}),
    start: () => {
      attempts++;
      return { record: attemptRecord(), hasBegun: () => false, result: Promise.reject(thrown) };
    },
  });
  await expect(running).rejects.toBe(thrown);
  expect(attempts).toBe(1);
});

describe('a target that is on trial for its silence', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** The first is silent until `answersAfterMs`, the second answers at once; whoever answers first ends the other. */
  function onTrial(policy: Partial<Policy> = {}, answersAfterMs = 60_000, leavesAfterMs = 60_000) {
    const log: string[] = [];
    const reports: [string, string | null][] = [];
    const picker: Picker = {
      ...plainPicker,
      trialPatienceMs: ({ provider }) => (provider.id === 'one' ? 1_000 : 0),
      report: ({ target, failure }) => reports.push([target.provider.id, failure]),
    };
    const whole = policySchema.parse(policy);
    const plan = new AttemptPlan({
      ...{ targets, policy: whole, picker, credentialId: null, now: () => 0, random: () => 0.5 },
      request: { policy: whole, capability: 'chat', conversation: () => null, reasoningOrigin: () => null },
    });
    const first = Promise.withResolvers<AttemptResult>();
    const outcome = runAttempts({
      plan,
      picker,
      gone: () => new Promise(() => {}),
      start: ({ target, cause }) => {
        log.push(`${target.provider.id} ${cause}`);
        const record = attemptRecord({ failure: null });
        if (target.provider.id !== 'one') {
          first.resolve({ kind: 'given-up' });
          return { record, hasBegun: () => false, result: Promise.resolve({ kind: 'answered', failure: null }) };
        }
        setTimeout(() => first.resolve({ kind: 'answered', failure: null }), answersAfterMs);
        setTimeout(() => {
          record.failure = 'client-gone';
          first.resolve({ kind: 'given-up' });
        }, leavesAfterMs);
        return { record, hasBegun: () => false, result: first.promise };
      },
    });
    return { log, reports, outcome };
  }

  test('has another asked beside it after a while, and was silent once more if that one answers first', async () => {
    const { log, reports, outcome } = onTrial();
    await vi.advanceTimersByTimeAsync(999);
    expect(log).toEqual(['one first']);
    await vi.advanceTimersByTimeAsync(1);
    expect(log).toEqual(['one first', 'two hedge']);
    expect(await outcome).toEqual({ kind: 'answered' });
    expect(reports.toSorted()).toEqual([
      ['one', 'silent'],
      ['two', null],
    ]);
  });

  test('is alone where it answers in that time', async () => {
    const { log, reports, outcome } = onTrial({}, 900);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([log, reports, await outcome]).toEqual([['one first'], [['one', null]], { kind: 'answered' }]);
  });

  test('is nobody’s fault where the client leaves', async () => {
    const { log, reports } = onTrial({}, 60_000, 500);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([log, reports]).toEqual([['one first'], [['one', 'client-gone']]]);
  });

  test('takes the other from the fallbacks', async () => {
    const { log } = onTrial({ fallbacks: 0 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(log).toEqual(['one first']);
  });

  test('is hedged sooner where the group does so', async () => {
    const { log } = onTrial({ hedgeAfterMs: 200 });
    await vi.advanceTimersByTimeAsync(200);
    expect(log).toEqual(['one first', 'two hedge']);
  });
});
