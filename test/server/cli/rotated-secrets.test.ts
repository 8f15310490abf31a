/** Secrets in files, replaced while Sluice runs: every part that uses one takes the new one, and no request is lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { get, readyOf } from '../../support/program.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { json, startUpstream } from '../../support/upstream.ts';
import { hasValkey, startValkey } from '../../support/valkey.ts';
import {
  addProvider,
  createKey,
  endProgramsAfterEach,
  type Ready,
  runVerb,
  serve,
  spawnCli,
  temporaryFolder,
} from './run-cli.ts';

endProgramsAfterEach();
const stopLater = stopAfterEach();

const chat = async ({ baseUrl }: Ready, key: string) => {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.status;
};

const healthOf = async ({ baseUrl }: Ready) => (await get(new URL('/healthz', baseUrl).href, '')).json();

describe.runIf(hasPostgres())('the password of the database', () => {
  const server = startPostgresInSuite();
  const role = 'gateway';
  const setPassword = (password: string) => server.query(`ALTER ROLE ${role} PASSWORD '${password}'`);
  const endConnections = () =>
    server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);

  test('is read again, in any part of the address, and what happens until then is recorded', async () => {
    await server.query(`CREATE ROLE ${role} LOGIN PASSWORD 'first'`);
    const [hba] = await server.query("SELECT current_setting('hba_file') AS path");
    writeFileSync(String(hba?.path), `local all ${role} scram-sha-256\nlocal all all trust\n`);
    await server.query('SELECT pg_reload_conf()');
    const upstream = await stopLater(
      startUpstream((_request, response) => json(response, { id: 'chatcmpl-1', choices: [] })),
    );
    const places = ['password', 'address'] as const;
    for (const place of places) {
      await setPassword('first');
      const url = await server.createDatabase();
      await server.query(`ALTER DATABASE ${url.split('/').at(-1)} OWNER TO ${role}`);
      const [folder, file] = [temporaryFolder(), join(temporaryFolder(), 'secret')];
      const withPassword = (password: string) => url.replace('sluice@', `${role}:${password}@`);
      const hold = (password: string) =>
        writeFileSync(file, `${place === 'address' ? withPassword(password) : password}\n`);
      hold('first');
      const store = place === 'address' ? `file:${file}` : withPassword(encodeURIComponent(`file:${file}`));
      const serving = await serve(folder, ['--store', store], {
        env: { SLUICE_PASSPHRASE: 'a phrase', UPSTREAM_KEY: 'k' },
      });
      await addProvider(folder, { url: upstream.baseUrl, models: 'gpt-x', env: { UPSTREAM_KEY: 'k' } });
      const key = await createKey(folder);
      expect(await chat(serving.ready, key)).toBe(200);

      await setPassword('second');
      await endConnections();
      expect(await chat(serving.ready, key)).toBe(200);
      const refusal = /cannot be written: password authentication failed for user "gateway"/;
      await eventually(async () => refusal.test((await runVerb(['status', '--data-dir', folder])).stdout));
      const listed = await runVerb(['log', '--data-dir', folder]);
      expect(listed.stderr).toContain('cannot be read at present (password authentication failed');
      expect(await chat(serving.ready, key)).toBe(200);
      hold('second');
      await answersAre(3, folder);
      await eventually(async () => (await healthOf(serving.ready)).ledger === 'ok');
      await serving.end();

      hold('too-early');
      const starting = spawnCli(['serve', '--json', '--port', '0', '--store', store, '--data-dir', temporaryFolder()]);
      await eventually(() => /refuses the user "gateway".* waits for it/.test(starting.output.stderr));
      hold('second');
      expect((await readyOf(starting)).event).toBe('ready');
      starting.child.kill('SIGTERM');
      await starting.ended;
    }
  });
});

const answersAre = (count: number, folder: string) =>
  eventually(async () => {
    const { stdout } = await runVerb(['log', '--json', '--data-dir', folder]);
    return (
      stdout
        .trim()
        .split('\n')
        .filter((line) => line.includes('"outcome":"ok"')).length === count
    );
  });

test.runIf(hasValkey())('the password of Valkey is read again', async () => {
  const valkey = await stopLater(startValkey('--requirepass', 'first'));
  const file = join(temporaryFolder(), 'valkey');
  const hold = (password: string) => writeFileSync(file, `valkey://:${password}@127.0.0.1:${valkey.port}`);
  hold('first');
  const { ready } = await serve(temporaryFolder(), ['--shared', `file:${file}`]);
  expect(await healthOf(ready)).toMatchObject({ sharedCounts: 'ok' });
  const client = new Redis(valkey.url, { retryStrategy: () => null });
  await client.config('SET', 'requirepass', 'second');
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  client.disconnect();
  await eventually(async () => (await healthOf(ready)).sharedCounts === 'away');
  hold('second');
  await eventually(async () => (await healthOf(ready)).sharedCounts === 'ok');
});
