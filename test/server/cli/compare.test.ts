import { expect, test } from 'vitest';
import { describeSpread } from '../../../server/cli/compare.ts';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('a spread is the median with its range, of what is known', () => {
  expect(describeSpread([30, null, 10, 20])).toBe('20 (10-30)');
  expect(describeSpread([10, 11])).toBe('11 (10-11)');
  expect(describeSpread([5, 5])).toBe('5');
  expect(describeSpread([0.00012, 0.0002], 6)).toBe('0.00016 (0.00012-0.0002)');
  expect(describeSpread([null])).toBe('-');
});

test('a captured request is sent to each target as often as asked, with a key that is gone afterwards', async () => {
  const folder = temporaryFolder();
  const { ready } = await serve(folder);
  const run = (...line: string[]) => runVerb([...line, '--data-dir', folder]);
  const { secret } = (await runJson(['key', 'create', '--data-dir', folder])) as { secret: string };
  const ask = async (headers: Record<string, string>) => {
    const response = await fetch(`${ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await response.text();
    return response.headers.get('x-sluice-request-id') ?? '';
  };
  const id = await ask({ 'x-sluice-capture': 'on' });
  const targets = ['--at', 'demo/demo-chat', '--at', 'demo/none'];
  const compared = await runJson(['compare', id, ...targets, '--times', '2', '--data-dir', folder]);
  expect(compared).toMatchObject([
    { target: 'demo/demo-chat', answers: [{ status: 200, record: { provider: 'demo' } }, { status: 200 }] },
    { target: 'demo/none', answers: [{ status: 404 }, { status: 404 }] },
  ]);
  const { stdout, stderr } = await run('compare', id, '--at', 'demo/demo-chat', '--at', 'demo/none');
  expect(stdout).toMatch(/demo\/demo-chat +1 of 1 +\d/);
  expect(stderr).toContain('demo/none answered 404');
  expect((await run('key', 'list')).stdout).not.toContain('compare');
  // In a new folder, the newest requests are in memory.
  expect(await run('compare', await ask({}), ...targets)).toMatchObject({ code: 0 });
  expect(await run('settings', 'set', 'capture.recent', 'off')).toMatchObject({ code: 0 });
  expect(await run('compare', await ask({}), ...targets)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('capture on'),
  });
  expect(await run('compare', id, '--at', 'demo')).toMatchObject({ code: 2 });
  expect(await run('compare', id, ...targets, ...targets, '--at', 'a/b')).toMatchObject({ code: 2 });
});
