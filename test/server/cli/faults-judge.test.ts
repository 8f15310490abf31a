/**
 * `sluice faults judge`: how a program handles each known fault.
 *
 * @suite long
 */
import { expect, test } from 'vitest';
import type { Judgement } from '../../../server/cli/judge-program.ts';
import { endProgramsAfterEach, runCli } from './run-cli.ts';

endProgramsAfterEach();

/** Requests a complete answer, at most twice, and exits with 0 even if the quota is used up. */
const asksTwice = `
  const { env } = process;
  for (let time = 0; time < 2; time++) {
    try {
      const response = await fetch(env.OPENAI_BASE_URL + '/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + env.OPENAI_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
        signal: AbortSignal.timeout(8_000),
      });
      const { choices, error } = await response.json();
      if (error?.code === 'insufficient_quota') process.exit(0);
      if (response.ok && choices[0].message.content) process.exit(0);
    } catch {}
  }
  process.exit(3);
`;

test('a program that tries twice handles single and lasting faults, and is caught if it claims an answer that it never received', async () => {
  const { code, stdout } = await runCli(['faults', 'judge', '--json', '--', process.execPath, '-e', asksTwice]);
  const judgements = JSON.parse(stdout) as Judgement[];
  const of = (name: string) => judgements.find(({ fault }) => fault === name);
  for (const once of [
    'rate limit, no wait told',
    'outage once',
    'connection reset once',
    'cut answer once',
    'HTML page once',
  ]) {
    expect(of(once)).toMatchObject({ result: 'ok', exitCode: 0, requests: 2 });
  }
  for (const lasting of ['rate limit for good', 'outage for good', 'context overflow']) {
    expect(of(lasting)).toMatchObject({ result: 'ok', exitCode: 3, requests: 2 });
  }
  expect(of('late first token')).toMatchObject({ result: 'ok', requests: 1 });
  expect(of('rate limit, wait told')).toMatchObject({ result: 'too early', exitCode: 0, requests: 2 });
  expect(of('flapping')).toMatchObject({ result: 'gave up', exitCode: 3, requests: 2 });
  expect(of('quota spent')).toMatchObject({ result: 'not noticed', exitCode: 0, requests: 1 });
  expect(judgements.map(({ result }) => result)).not.toContain('hung');
  expect(code).toBe(1);
});

test('a program that fails without any fault is not judged', async () => {
  const { code, stderr } = await runCli(['faults', 'judge', '--', process.execPath, '-e', 'process.exit(5)']);
  expect(code).toBe(1);
  expect(stderr).toContain('Without any fault the program ended with 5 after 0 requests, so it cannot be judged.');
  expect(stderr).toContain('OPENAI_BASE_URL');
});

test('a single fault can be tested, and an unknown name is refused with the list of names', async () => {
  // A database that cannot be reached: the judge must not use it, although other commands do.
  const env = { SLUICE_STORE: 'postgres://sluice@127.0.0.1:1/sluice' };
  const judge = (only: string) =>
    runCli(['faults', 'judge', '--json', '--only', only, '--', process.execPath, '-e', asksTwice], { env });
  const { code, stdout } = await judge('reset');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ fault: 'connection reset once', result: 'ok' }]);
  expect(await judge('nonsense')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('connection reset once; '),
  });
});
