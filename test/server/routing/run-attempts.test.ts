import { describe, expect, test } from 'vitest';
import { type AttemptResult, runAttempts } from '../../../server/routing/run-attempts.ts';
import type { Target } from '../../../server/routing/snapshot.ts';
import { TransportError, type TransportFault, type TransportPhase } from '../../../server/transport/transport-error.ts';
import { snapshotOf } from '../../support/providers.ts';

const snapshot = snapshotOf(
  {
    providers: ['one', 'two'].map((id) => ({
      id,
      baseUrl: `https://${id}.example/v1`,
      credentials: [{ id: 'c1' }, { id: 'c2' }],
    })),
  },
  { secrets: { 'provider/one/c1': 'a', 'provider/one/c2': 'b', 'provider/two/c1': 'c', 'provider/two/c2': 'd' } },
);
const targets: Target[] = [...snapshot.providers.values()].map((provider) => ({
  provider,
  model: 'm',
  priority: 0,
  weight: 1,
}));

const answered: AttemptResult = { kind: 'answered' };

function failed(fault: TransportFault, phase: TransportPhase = 'connect'): AttemptResult {
  return { kind: 'failed', error: new TransportError(fault, phase, `${fault} happened`) };
}

/** Runs attempts that end as the script says, and tells who was asked with what. */
async function run(script: AttemptResult[], credentialId?: string | null, asked = targets) {
  const log: string[] = [];
  const results = [...script];
  const outcome = await runAttempts(
    asked,
    async (target, credential) => {
      log.push(`${target.provider.id}/${credential?.id}`);
      const result = results.shift();
      if (!result) throw new Error('one attempt more than the script has');
      return result;
    },
    credentialId,
  ).then(
    () => 'answered',
    (error: unknown) => error,
  );
  return { log, outcome };
}

describe('runAttempts', () => {
  test('asks one target where that answers', async () => {
    expect(await run([answered])).toEqual({ log: ['one/c1'], outcome: 'answered' });
  });

  test.each(['refused', 'reset', 'dns'] as const)(
    'asks the same target once more after `%s`, then the next',
    async (fault) => {
      expect(await run([failed(fault), answered])).toEqual({ log: ['one/c1', 'one/c1'], outcome: 'answered' });
      expect(await run([failed(fault), failed(fault), answered])).toEqual({
        log: ['one/c1', 'one/c1', 'two/c1'],
        outcome: 'answered',
      });
    },
  );

  test.each<[TransportFault, TransportPhase]>([
    ['timeout', 'connect'],
    ['timeout', 'headers'],
    ['tls', 'connect'],
    ['proxy', 'connect'],
    ['malformed', 'headers'],
  ])('goes to the next target at once after `%s` (%s)', async (fault, phase) => {
    expect(await run([failed(fault, phase), answered])).toEqual({ log: ['one/c1', 'two/c1'], outcome: 'answered' });
  });

  test('goes to the next target after a redirect', async () => {
    expect((await run([{ kind: 'redirected', location: '/x' }, answered])).log).toEqual(['one/c1', 'two/c1']);
  });

  test('counts the attempts anew with each target', async () => {
    const { log, outcome } = await run([failed('reset'), failed('reset'), failed('refused'), answered]);
    expect(log).toEqual(['one/c1', 'one/c1', 'two/c1', 'two/c1']);
    expect(outcome).toBe('answered');
  });

  test.each<[string, AttemptResult[], string, RegExp]>([
    [
      'unreachable',
      [failed('timeout'), failed('refused'), failed('refused')],
      'upstream_unreachable',
      /"two" \(two\.example\) cannot be reached: refused/,
    ],
    ['silent', [failed('tls'), failed('timeout', 'headers')], 'upstream_timeout', /"two".*sent no answer in time/],
    ['slow to connect', [failed('tls'), failed('timeout')], 'upstream_timeout', /accepted no connection in time/],
    [
      'elsewhere',
      [failed('tls'), { kind: 'redirected', location: 'https://x.example/' }],
      'upstream_redirected',
      /x\.example/,
    ],
  ])('tells of the last target where all are %s', async (_what, script, code, message) => {
    const { outcome } = await run(script);
    expect(outcome).toMatchObject({ code });
    expect(outcome).toHaveProperty('message', expect.stringMatching(message));
  });

  test('without targets fails as `no_healthy_provider`', async () => {
    expect((await run([], null, [])).outcome).toMatchObject({ code: 'no_healthy_provider' });
  });

  test('uses the pinned credential, and the first where that is gone', async () => {
    expect((await run([failed('reset'), answered], 'c2')).log).toEqual(['one/c2', 'one/c2']);
    expect((await run([answered], 'gone')).log).toEqual(['one/c1']);
  });

  test('passes on what an attempt throws, and asks nobody else', async () => {
    const thrown = new Error('a fault inside');
    let attempts = 0;
    const running = runAttempts(targets, async () => {
      attempts++;
      throw thrown;
    });
    await expect(running).rejects.toBe(thrown);
    expect(attempts).toBe(1);
  });
});
