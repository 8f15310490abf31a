import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { parseShadow } from '../../../server/cli/shadow-option.ts';
import { eventually } from '../../support/eventually.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { completion } from '../gateway/two-targets.ts';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('a shadow is written as off, or by target, share and dollars a day', () => {
  expect(parseShadow('off')).toBe('off');
  const shadow = { target: 'groq/llama', share: 0.1, dailyUsd: 2.5 };
  expect(parseShadow('target=groq/llama,share=10%,usd=2.5')).toEqual(shadow);
  expect(parseShadow('usd=2.5,share=0.1,target=groq/llama')).toEqual(shadow);
  for (const wrong of [
    '',
    'on',
    'target=a/b',
    'target=a/b,share=2,usd=1',
    'target=a/b,share=0.1,usd=0',
    'share=1,usd=1',
  ]) {
    expect(() => parseShadow(wrong)).toThrow(InvalidArgumentError);
  }
});

test('a shadow is set for a group, summarised, and shown beside its request', async () => {
  const upstream = await startUpstream((_request, response) => json(response, completion('Another answer.')));
  const folder = temporaryFolder();
  const two = { id: 'two', baseUrl: upstream.baseUrl, models: ['cheap'] };
  const settings = { prices: { cheap: { input: 1, output: 1, maxOutput: 1000 } }, demo: 'on' };
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ version: 1, providers: [two], groups: [{ id: 'default' }], settings }),
  );
  const { ready } = await serve(folder);
  const run = (...line: string[]) => runVerb([...line, '--data-dir', folder]);
  expect(await run('group', 'put', 'default', '--shadow', 'target=none,share=1,usd=1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no alias "none"'),
  });
  await run('group', 'put', 'default', '--shadow', 'target=two/cheap,share=1,usd=1');
  expect((await run('group', 'show', 'default')).stdout).toContain('two/cheap, 100 % of the requests, up to $1 a day');
  expect((await run('shadow')).stdout).toContain('There are no shadow requests.');
  const { secret } = (await runJson(['key', 'create', '--data-dir', folder])) as { secret: string };
  const response = await fetch(`${ready.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.text();
  const id = response.headers.get('x-sluice-request-id') ?? '';
  const shown = await eventually(async () => {
    const { stdout } = await run('log', 'show', id);
    return /^shadow: +req_\w+ {2}two\/cheap, ok/m.test(stdout) && stdout;
  });
  expect(shown).toContain('another answer');
  expect((await run('shadow')).stdout).toMatch(/default +two\/cheap +1 +1 +0 of 1/);
  await upstream.stop();
});
