/** Properties of providers, credentials and groups that the window can set are set here as well. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runVerb, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('usage on request, timeouts, a credential’s switch and capture on request are set, and the rest stays', async () => {
  const folder = join(temporaryFolder(), 'data');
  const run = (line: string, input?: string) =>
    runVerb([...line.split(' '), '--data-dir', folder], input === undefined ? {} : { input });
  const config = async () => JSON.parse((await run('export')).stdout);

  await run('provider add --id main --url https://llm.example/v1 --models a --credential-stdin --no-test', 'sk-one');
  expect(await run('provider put main --ask-usage off --timeouts connectMs=3000,totalMs=60000')).toMatchObject({
    code: 0,
  });
  expect(await run('provider credential main c1 --disable')).toMatchObject({
    stdout: 'Credential "c1" of provider "main" is disabled.\n',
  });
  expect((await config()).providers).toMatchObject([
    {
      models: ['a'],
      askUsage: false,
      timeouts: { connectMs: 3_000, totalMs: 60_000 },
      credentials: [{ id: 'c1', secret: 'keychain', enabled: false }],
    },
  ]);
  await run('provider put main --ask-usage on --timeouts usual');
  await run('provider credential main c1 --enable');
  await run('group put default --no-capture-on-request');
  expect(await config()).toMatchObject({
    providers: [{ askUsage: true, timeouts: {}, credentials: [{ enabled: true }] }],
    groups: [{ id: 'default', models: ['*'], captureOnRequest: false, capture: false }],
  });
  expect(await run('provider put main --timeouts connectMs=0')).toMatchObject({ code: 2 });
  expect(await run('provider put main --timeouts soon=5')).toMatchObject({ code: 2 });
  expect(await run('provider credential main c1 --enable --disable')).toMatchObject({ code: 2 });
});
