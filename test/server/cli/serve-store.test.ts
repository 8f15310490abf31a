/** Replicas with one database, started as an operator would. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stretched } from '../../support/cpu-work.ts';
import { eventually } from '../../support/eventually.ts';
import { findPostgres } from '../../support/find-servers.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { get, readyOf } from '../../support/program.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import {
  addProvider,
  createKey,
  endProgramsAfterEach,
  runCli,
  runJson,
  runVerb,
  serve,
  spawnCli,
  temporaryFolder,
} from './run-cli.ts';

endProgramsAfterEach();
describe.runIf(hasPostgres())('replicas of one database', () => {
  const server = startPostgresInSuite();
  let url: string;
  let upstream: ScriptedUpstream;
  beforeEach(async () => {
    url = await server.createDatabase();
    upstream = await startUpstream((_request, response) => json(response, { id: 'chatcmpl-1', choices: [] }));
  });
  afterEach(() => upstream.stop());

  const secret = 'sk-upstream-secret-that-nobody-may-see';
  const env = { SLUICE_PASSPHRASE: 'correct horse battery staple', UPSTREAM_KEY: secret };
  const start = (folder: string, more: Record<string, string> = {}) =>
    serve(folder, ['--store', url], { env: { ...env, ...more } });
  const addUpstream = (folder: string) => addProvider(folder, { url: upstream.baseUrl, models: 'gpt-x', env });
  const chat = (baseUrl: string, key: string) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] }),
    });

  /** Waits until this many chats are recorded, because rows are written shortly after the answer. */
  const answeredChatsAre = (count: number, folder: string) =>
    eventually(async () => {
      const { stdout } = await runVerb(['log', '--json', '--data-dir', folder]);
      const rows = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return rows.filter(({ capability, outcome }) => capability === 'chat' && outcome === 'ok').length === count;
    });

  async function dump(): Promise<string> {
    const client = new pg.Client(url);
    await client.connect();
    const tables = await client.query(
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace",
    );
    const texts: string[] = [];
    for (const { relname } of tables.rows)
      texts.push(JSON.stringify((await client.query(`SELECT * FROM ${relname}`)).rows));
    await client.end();
    return texts.join('\n');
  }

  test('serve the same keys and providers, follow a change within a second, and keep secrets sealed', async () => {
    const [one, two] = [temporaryFolder(), temporaryFolder()];
    const first = await start(one);
    const key = await createKey(one);
    expect(first.ready.key).toBeUndefined();
    expect(first.output.stderr).toContain('are in PostgreSQL at');
    const second = await start(two);
    expect((await get(`${second.ready.baseUrl}/models`, key)).status).toBe(200);

    const { code, stderr } = await addUpstream(one);
    expect(code, stderr).toBe(0);
    const changedMs = performance.now();
    await eventually(async () => (await chat(second.ready.baseUrl, key)).status === 200);
    expect(performance.now() - changedMs).toBeLessThan(stretched(1_000));
    expect(upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(await dump()).not.toContain(secret);

    // Each replica lists the requests of both.
    await chat(first.ready.baseUrl, key);
    await answeredChatsAre(2, two);

    await runVerb(['key', 'revoke', 'my-key', '--yes', '--data-dir', two]);
    await eventually(async () => (await chat(first.ready.baseUrl, key)).status === 401);
    expect(await first.end()).toBe(0);
    expect(await second.end()).toBe(0);
  });

  test('take the address, its password and the key of the secrets from files and variables', async () => {
    const folder = temporaryFolder();
    const [addressFile, keyFile] = [join(folder, 'address'), join(folder, 'key')];
    writeFileSync(addressFile, `${url.replace('sluice@', 'sluice:env:DATABASE_PASSWORD@')}\n`);
    writeFileSync(keyFile, randomBytes(32).toString('base64'));
    const more = { SLUICE_STORE: `file:${addressFile}`, SLUICE_KEY_FILE: keyFile, DATABASE_PASSWORD: 'any' };
    const data = temporaryFolder();
    const serving = await serve(data, [], { env: { UPSTREAM_KEY: secret, ...more } });
    expect((await addUpstream(data)).code).toBe(0);
    expect((await chat(serving.ready.baseUrl, await createKey(data))).status).toBe(200);
    await serving.end();
    // Without a running replica, commands change the database directly.
    expect(await runJson(['provider', 'list', '--data-dir', temporaryFolder()], { env: more })).toMatchObject([
      { id: 'main' },
    ]);
  });

  test('are examined by doctor', async () => {
    const folder = temporaryFolder();
    const serving = await start(folder);
    const examined = await runVerb(['doctor', '--data-dir', temporaryFolder()], { env: { ...env, SLUICE_STORE: url } });
    expect(examined.stdout).toMatch(/^ok {6}database: .*PostgreSQL \d+.* answers in .* ms.*, 2 replicas running$/m);
    // As reported by the running replica; the caller's terminal need not know the database.
    expect((await addUpstream(folder)).code).toBe(0);
    const key = await createKey(folder);
    await server.kill();
    expect((await chat(serving.ready.baseUrl, key)).status).toBe(200);
    const away = await eventually(async () => {
      const told = await runVerb(['doctor', '--data-dir', folder], { env: { SLUICE_STORE: url } });
      return told.stdout.includes('FAILED  request log') && told;
    });
    expect(away.code).toBe(1);
    expect(away.stdout).toMatch(
      /^FAILED {2}database: PostgreSQL at .* cannot be used now \(.*\)\. Check that it runs/m,
    );
    expect(away.stdout).toMatch(
      /^FAILED {2}request log: cannot be written: .*; [1-9]\d* rows? waiting(?:, \d+ of them on disk)?$/m,
    );
    const plain = await runVerb(['doctor', '--data-dir', folder]);
    expect(plain.stdout).toMatch(/^FAILED {2}request log: /m);
    expect(plain.stdout).toMatch(
      /^ok {6}secrets: Credentials are kept in the database, encrypted with the passphrase/m,
    );
    await server.start();
    await serving.end();
    const missing = url.replace(/[^/]+$/, 'no_such_database');
    const refused = await runVerb(['doctor', '--data-dir', temporaryFolder()], { env: { SLUICE_STORE: missing } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('createdb --owner');
  });

  test('come back from a backup, with their key', async () => {
    const folder = temporaryFolder();
    const serving = await start(folder);
    const key = await createKey(folder);
    expect((await addUpstream(folder)).code).toBe(0);
    expect((await chat(serving.ready.baseUrl, key)).status).toBe(200);
    await answeredChatsAre(1, folder);
    const backup = join(folder, 'backup');
    const programs = findPostgres() ?? '';
    execFileSync(join(programs, 'pg_dump'), ['--format=custom', `--file=${backup}`, url]);
    await serving.end();
    url = await server.createDatabase();
    execFileSync(join(programs, 'pg_restore'), ['--exit-on-error', `--dbname=${url}`, backup]);
    const again = temporaryFolder();
    const restored = await start(again);
    expect((await chat(restored.ready.baseUrl, key)).status).toBe(200);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
    await answeredChatsAre(2, again);
  });

  test('refuse to store a secret that they cannot encrypt', async () => {
    const folder = temporaryFolder();
    const serving = await serve(folder, ['--store', url], { env: { UPSTREAM_KEY: secret } });
    const { code, stderr } = await addUpstream(folder);
    expect(code).toBe(1);
    expect(stderr).toContain('set SLUICE_PASSPHRASE or SLUICE_KEY_FILE');
    await serving.end();
    expect(await dump()).not.toContain(secret);
  });

  const shared = ['--public-url', 'https://gateway.example'];
  test.for([2, 3, 5].flatMap((count) => [[], shared].map((more) => [count, more] as const)))(
    '%d at once all start on an empty database, and print no key (%j)',
    async ([count, more]) => {
      const folders = Array.from({ length: count }, temporaryFolder);
      const replicas = await Promise.all(folders.map((folder) => serve(folder, ['--store', url, ...more], { env })));
      for (const { ready, output } of replicas) expect({ ...ready, stdout: output.stdout }).not.toHaveProperty('key');
      for (const { output } of replicas) expect(output.stdout + output.stderr).not.toContain('sk-sluice-');
      const client = new pg.Client(url);
      await client.connect();
      expect((await client.query('SELECT revision FROM config_revisions')).rows).toEqual([]);
      await client.end();
      // Changes made at all of them at the same time are all made.
      await Promise.all(folders.map((folder) => createKey(folder)));
      await eventually(async () => {
        const keys = await Promise.all(folders.map((folder) => runJson(['key', 'list', '--data-dir', folder])));
        return keys.every((each) => Array.isArray(each) && each.length === count);
      });
      for (const { end } of replicas) expect(await end()).toBe(0);
    },
  );

  test('wait for a database that starts after them, and say so', async () => {
    await server.kill();
    const place = () => ['serve', '--json', '--port', '0', '--data-dir', temporaryFolder(), '--store', url];
    const starting = spawnCli(place(), { env });
    const told = /cannot be used now \(.*\)\. Check that it runs .* waits for it, \d+ s more at most\.\n/;
    await eventually(() => told.test(starting.output.stderr));
    expect(starting.output.stdout).toBe('');
    const stopped = spawnCli(place(), { env });
    await eventually(() => told.test(stopped.output.stderr));
    stopped.child.kill('SIGTERM');
    expect(await stopped.ended).toBe(128 + constants.signals.SIGTERM);
    const gaveUp = await runCli([...place(), '--store-timeout', '0'], { env });
    expect(gaveUp).toMatchObject({ code: 1, stdout: '', stderr: expect.not.stringContaining('waits') });
    await server.start();
    expect((await readyOf(starting)).event).toBe('ready');
  });

  /** The only line on stderr of a start that fails. */
  async function refusal(given: string, more: Record<string, string> = {}, ...options: string[]): Promise<string> {
    const place = ['--port', '0', '--data-dir', temporaryFolder(), '--store', given];
    const { code, stdout, stderr } = await runCli(['serve', ...place, ...options], { env: more });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return stderr;
  }

  test('say in one line why they cannot start', async () => {
    expect(await refusal('db.internal')).toContain('postgres://USER:PASSWORD@HOST:PORT/DATABASE');
    expect(await refusal(url, {}, '--shared', 'http://cache')).toContain('valkey://USER:PASSWORD@HOST:PORT/DATABASE');
    expect(await refusal('env:NO_SUCH_VARIABLE')).toContain('env:NO_SUCH_VARIABLE, which holds no value');
    const serving = await start(temporaryFolder());
    await serving.end();
    const wrong = await refusal(url, { SLUICE_PASSPHRASE: 'another' });
    expect(wrong).toContain('Set the one that the other replicas have');
    const client = new pg.Client(url);
    await client.connect();
    await client.query("INSERT INTO schema_migrations (version, name, oldest_program) VALUES (900, 'later', 900)");
    await client.end();
    expect(await refusal(url)).toContain('Update Sluice');
  });
});
