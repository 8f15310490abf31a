/** `sluice sessions` and `sluice session`, with a running program and with the ledger alone. */
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runJson, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

async function keyOf(folder: string): Promise<string> {
  const created = await runJson(['key', 'create', '--data-dir', folder]);
  return (created as { secret: string }).secret;
}

test('sessions are listed, shown, exported, stopped and resumed', async () => {
  const folder = temporaryFolder();
  const key = await keyOf(folder);
  const serving = await serve(folder);
  const ask = (text: string) =>
    fetch(`${serving.ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sluice-session': 'nightly' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: text }] }),
    }).then(async (response) => ({ status: response.status, body: await response.text() }));
  expect(await runVerb(['sessions', '--data-dir', folder])).toMatchObject({ stdout: 'There are no such sessions.\n' });
  expect((await ask('One')).status).toBe(200);
  expect((await ask('Two')).status).toBe(200);

  const sessions = (await runJson(['sessions', '--data-dir', folder])) as { id: string }[];
  expect(sessions).toMatchObject([{ requests: 2, failed: 0, client: 'node' }]);
  const id = sessions[0]?.id ?? '';
  const listed = await runVerb(['sessions', '--client', 'node', '--since', '1h', '--data-dir', folder]);
  expect(listed.stdout).toMatch(new RegExp(`^SESSION .*\\n${id} +nightly `));
  expect((await runVerb(['session', 'show', id, '--data-dir', folder])).stdout).toContain('Turn 2: ');
  const exported = (await runVerb(['session', 'export', id, '--data-dir', folder])).stdout.trim().split('\n');
  expect(exported.map((line) => JSON.parse(line))).toMatchObject([
    { session: id, turn: 1, isToolResult: false },
    { session: id, turn: 2 },
  ]);

  expect(await runVerb(['session', 'stop', id, '--data-dir', folder])).toMatchObject({
    code: 0,
    stdout: `Requests of ${id} are refused from now on.\n`,
  });
  const refused = await ask('Three');
  expect(refused).toMatchObject({ status: 400, body: expect.stringContaining('session_stopped') });
  expect(await runJson(['sessions', '--stopped', '--data-dir', folder])).toMatchObject([{ id, failed: 0, refused: 1 }]);
  await runVerb(['session', 'resume', id, '--data-dir', folder]);
  expect((await ask('Four')).status).toBe(200);
  expect(await runVerb(['session', 'show', 'ses_0000000000000000', '--data-dir', folder])).toMatchObject({
    code: 1,
    stderr:
      'sluice: There is no session "ses_0000000000000000" in the request log. "sluice session list" lists what there is.\n',
  });

  await runVerb(['group', 'put', 'default', '--capture', '--data-dir', folder]);
  const begun = {
    model: 'demo-chat',
    prompt_cache_key: 'conversation-1',
    messages: [{ role: 'user', content: 'Mend the gate' }],
  };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await fetch(`${serving.ready.baseUrl}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(begun) });
  const titles = async () =>
    ((await runJson(['sessions', '--data-dir', folder])) as { title: string }[]).map(({ title }) => title);
  await expect.poll(titles).toEqual(['Mend the gate', 'nightly']);

  await serving.end();
  expect(await runJson(['sessions', '--data-dir', folder])).toMatchObject([{ requests: 1 }, { id, requests: 4 }]);
  expect(await runVerb(['session', 'stop', id, '--data-dir', folder])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Sluice is not running'),
  });
});
