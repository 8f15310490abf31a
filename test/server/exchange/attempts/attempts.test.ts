import { describe, expect, test } from 'vitest';
import { policySchema } from '../../../../server/contract/policy.ts';
import { runAttempts } from '../../../../server/exchange/attempts/attempts.ts';
import { AttemptPlan } from '../../../../server/routing/attempt-plan.ts';
import type { Picker } from '../../../../server/routing/picker.ts';
import type { Target } from '../../../../server/routing/snapshot.ts';
import { attemptRecord, plainPicker } from '../../../support/stand-ins.ts';
import { limited, run, type Step, silent, targets, transient, withOneCredential } from './scripted-attempts.ts';

const told = (outcome: Awaited<ReturnType<typeof run>>['outcome']) =>
  outcome.kind === 'unanswered' && outcome.failureResponse.kind === 'error'
    ? outcome.failureResponse.error.message
    : outcome.kind;

const quota = { class: 'quota', retryable: false } as const;
const refused = { class: 'credential', retryable: false } as const;

describe('the next target', () => {
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

  test('is the best target even if the picker advises against all', async () => {
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
    const picker = { isAvailable: () => failures === 0, report: () => void failures++ };
    expect((await run([transient, 'answers'], { picker })).log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('is never called twice if it was unhealthy before this request and only called because no other was left', async () => {
    const picker = { isAvailable: () => false, worthWaitingMs: () => null };
    const { log } = await run([transient], { picker, policy: { retries: 5, fallbacks: 1 } });
    expect(log).toEqual(['one/c1 first', 'two/c1 fallback']);
  });

  test('waits for the end of a cooldown that is near, if no other is left', async () => {
    const picker = { isAvailable: () => false, worthWaitingMs: () => 900 };
    const { log, waits } = await run([transient, transient, 'answers'], {
      picker,
      policy: { retries: 5, fallbacks: 1 },
    });
    expect({ log, waits }).toEqual({ log: ['one/c1 first', 'two/c1 fallback', 'two/c1 retry'], waits: [900] });
  });

  test('does not wait where a kept connection was closed, and says nothing about health', async () => {
    const reports: unknown[] = [];
    const picker = { report: ({ failure }: { failure: unknown }) => void reports.push(failure) };
    const { log, waits } = await run([{ isStale: true }, 'answers'], { picker });
    expect({ log, waits, reports }).toEqual({
      ...{ log: ['one/c1 first', 'one/c1 retry'], waits: [], reports: ['rejected', null] },
    });
  });

  test('leaves a request alone that may not be repeated, though its connection was closed', async () => {
    expect((await run([{ isStale: true, isLost: true }], { policy: { retries: 0 } })).log).not.toContain(
      'one/c1 retry',
    );
  });

  test('can be one that only this request has made unhealthy, if no other is left', async () => {
    let failures = 0;
    const picker = { isAvailable: () => failures === 0, report: () => void failures++ };
    const { log } = await run([transient], { picker, policy: { retries: 5, fallbacks: 0 } });
    expect(log).toHaveLength(6);
  });

  test('can be an unhealthy one once more if it broke off in the middle of an answer', async () => {
    const picker = { isAvailable: () => false };
    const { log } = await run(['breaks', 'answers'], { picker, policy: { fallbacks: 0 } });
    expect(log).toEqual(['one/c1 first', 'one/c1 rescue']);
  });

  test('is a target that fails in other requests too, where it told for how long', async () => {
    const { log } = await run([{ retryAfterMs: 200 }, 'answers'], { picker: { isAvailable: () => false } });
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

describe('the error if no target answers', () => {
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
  const request = {
    policy,
    capability: 'chat' as const,
    isPurchase: false,
    conversation: () => null,
    reasoningOrigin: () => null,
  };
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
