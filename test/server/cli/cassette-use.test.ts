/** Cassettes of groups and keys, from the command line. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endProgramsAfterEach, runVerb, serve, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

test('a group is recorded, and a key of it replayed from the same folder until it is left to the group again', async () => {
  const [data, cassette] = [temporaryFolder(), temporaryFolder()];
  const { ready } = await serve(data);
  const verb = async (...line: string[]) => {
    const { code, stdout, stderr } = await runVerb([...line, '--data-dir', data]);
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
    return stdout;
  };
  const ask = async () => {
    const response = await fetch(`${ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ready.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await response.text();
    return response.headers.get('x-sluice-replay');
  };
  await verb('group', 'put', 'default', '--cassette', cassette, '--cassette-mode', 'record');
  expect(await verb('group', 'show', 'default')).toContain(`cassette:    record ${cassette}\n`);
  expect(await ask()).toBeNull();
  await verb('key', 'put', 'first-key', '--cassette', cassette, '--cassette-mode', 'replay');
  expect(await ask()).toBe('hit');
  const views = JSON.parse(await verb('cassette', 'status', '--json'));
  expect(views).toMatchObject([
    { mode: 'record', folder: cassette, recorded: 1 },
    { mode: 'replay', folder: cassette, recordings: 1, hits: 1 },
  ]);
  await verb('cassette', 'rewind', '--cassette', cassette);
  expect(await verb('cassette', 'status')).toContain('not open');
  await verb('key', 'put', 'first-key', '--cassette-mode', 'off');
  expect(await verb('key', 'show', 'first-key')).toContain('Cassette: off\n');
  await verb('key', 'put', 'first-key', '--cassette-mode', 'group');
  expect(await verb('key', 'show', 'first-key')).toContain('Cassette: as its group\n');
  await verb('group', 'put', 'default', '--cassette-mode', 'off');
  expect(await verb('cassette', 'status')).toContain('No group and no key has a cassette.');
});

test('a mode without a folder and a folder that cannot be used are refused', async () => {
  const data = temporaryFolder();
  const put = (...options: string[]) => runVerb(['group', 'put', 'default', ...options, '--data-dir', data]);
  expect(await put('--cassette-mode', 'replay')).toMatchObject({
    code: 2,
    stderr: 'sluice: Name its folder: --cassette FOLDER.\n',
  });
  const missing = join(data, 'none');
  expect(await put('--cassette', missing, '--cassette-mode', 'replay')).toMatchObject({
    code: 1,
    stderr: `sluice: The cassette ${missing} cannot be read: there is no such folder.\n`,
  });
});
