/**
 * An operator's first weeks with a gateway for a team, by docs/scaling.md, teams.md and shared-store.md: their commands are
 * run in a shell as they stand there, replicas as compose.yaml says and nginx as nginx.conf says; only addresses and folders
 * are those of the test.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { clientSecret, startIdentityProvider, type TestIdentityProvider } from '../../support/identity-provider.ts';
import { hasNginx, type Nginx, startNginx } from '../../support/nginx.ts';
import { freePort } from '../../support/ports.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import {
  builtProgram,
  checkout,
  ensureBuilt,
  plainEnvironment,
  type RunningProgram,
  readyOf,
  startProgram,
} from '../../support/program.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../support/valkey.ts';

const page = (name: string) => readFileSync(join(checkout, 'docs', name), 'utf8');

/** The command of a page's fenced blocks that begins so, as it stands there. */
function documented(name: string, beginning: string): string {
  const blocks = [...page(name).matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const commands = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  const found = commands.filter((command) => command.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${name} has ${found.length} commands that begin with ${beginning}`);
  return found[0] ?? '';
}

interface Replica {
  name: string;
  port: number;
  folder: string;
  program: RunningProgram;
}

describe.runIf(hasPostgres() && hasValkey() && hasNginx())('an operator', () => {
  const server = startPostgresInSuite();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-walk-'));
  const names = ['sluice-1', 'sluice-2', 'sluice-3'];
  let upstream: ScriptedUpstream;
  let valkey: ValkeyServer;
  let identity: TestIdentityProvider;
  let nginx: Nginx;
  let agent: Agent;
  let origin: string;
  let replicas: Replica[];
  /** Of the operator's shell. */
  let variables: Record<string, string>;
  beforeAll(async () => {
    await ensureBuilt();
    upstream = await startUpstream(({ url }, response) =>
      json(response, url.endsWith('/models') ? { data: [{ id: 'gpt-5-mini' }] } : answer),
    );
    valkey = await startValkey();
    for (const name of [...names, 'bin', 'laptop']) mkdirSync(join(folder, name));
    script('sluice', `exec '${process.execPath}' '${builtProgram}' "$@"`);
    // `docker compose exec [-e NAME] SERVICE COMMAND …`
    const [exec, variable] = ['shift 2', '[ "$1" = -e ] && shift 2'];
    script('docker', `${exec}\n${variable}\nSLUICE_DATA_DIR="${folder}/$1"; export SLUICE_DATA_DIR; shift; exec "$@"`);
  });
  afterAll(async () => {
    await nginx?.stop();
    for (const { program } of replicas ?? []) program.child.kill('SIGKILL');
    await agent?.close();
    await identity?.stop();
    await Promise.all([upstream.stop(), valkey.stop()]);
    rmSync(folder, { recursive: true });
  });

  function script(name: string, text: string): void {
    const path = join(folder, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  }

  /** Starts a command of the documents in a shell, at the address of the test. */
  function sh(command: string, more: Record<string, string> = {}) {
    const child = spawn('/bin/sh', ['-ec', command.replaceAll('https://gateway.example', origin)], {
      cwd: folder,
      env: {
        ...plainEnvironment,
        SLUICE_SECRETS: 'file',
        SLUICE_DATA_DIR: join(folder, 'laptop'),
        NODE_EXTRA_CA_CERTS: join(folder, 'tls/tls.crt'),
        ...variables,
        ...more,
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      },
    });
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (piece: string) => {
        output[stream] += piece;
      });
    }
    const done = new Promise<string>((resolve, reject) => {
      child.on('close', (code) =>
        code === 0 ? resolve(output.stdout) : reject(new Error(`${command}\nended with ${code}: ${output.stderr}`)),
      );
    });
    return { output, done };
  }
  const run = (command: string, more?: Record<string, string>) => sh(command, more).done;

  const compose = parse(readFileSync(join(checkout, 'build/deploy/compose.yaml'), 'utf8'), { merge: true });
  const { command, environment } = compose['x-sluice'] as { command: string[]; environment: Record<string, string> };

  /** Starts a replica as the compose file says, without containers. */
  async function start(replica: Omit<Replica, 'program'>): Promise<void> {
    const places: Record<string, string> = {
      '--host=0.0.0.0': '--host=127.0.0.1',
      '--shared=valkey://valkey': `--shared=file:${folder}/shared`,
      [command.find((word) => word.startsWith('--public-url=${PUBLIC_URL')) ?? '']: `--public-url=${origin}`,
      '--trusted-proxy=172.16.0.0/12': '--trusted-proxy=127.0.0.1',
      '--shutdown-delay=5': '--shutdown-delay=1',
    };
    expect(command).toEqual(expect.arrayContaining(Object.keys(places)));
    expect(Object.keys(environment)).toEqual(['SLUICE_STORE', 'SLUICE_PASSPHRASE', 'POSTGRES_PASSWORD']);
    const place = ['--json', `--port=${replica.port}`, `--data-dir=${replica.folder}`];
    const program = startProgram([...command.map((word) => places[word] ?? word), ...place], { env: { ...variables } });
    const at = replicas.findIndex(({ name }) => name === replica.name);
    if (at === -1) replicas.push({ ...replica, program });
    else replicas[at] = { ...replica, program };
    const ready = await readyOf(program);
    expect(ready).toMatchObject({ baseUrl: `${origin}/v1` });
    expect(ready).not.toHaveProperty('key');
  }

  const at = (path: string, init: Parameters<typeof fetch>[1] = {}) =>
    fetch(`${origin}${path}`, { dispatcher: agent, redirect: 'manual', ...init });
  const chat = async (key: string, origins = [origin]): Promise<number[]> =>
    Promise.all(
      origins.map(async (each) => {
        const response = await fetch(`${each}/v1/chat/completions`, {
          dispatcher: agent,
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', host: new URL(origin).host },
          body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] }),
        });
        await response.text();
        if (response.status === 200) answered++;
        return response.status;
      }),
    );
  let answered = 0;
  const each = () => replicas.map(({ port }) => `http://127.0.0.1:${port}`);

  /** Signs in as a browser does. Resolves with the session cookie. */
  async function signIn(person: string): Promise<string> {
    const cookieIn = (response: { headers: { getSetCookie(): string[] } }) =>
      (response.headers.getSetCookie().at(-1) ?? '').split(';')[0] ?? '';
    const begun = await at('/control/sign-in');
    const back = await identity.signIn(begun.headers.get('location') ?? '', person);
    return cookieIn(await at(back.slice(origin.length), { headers: { cookie: cookieIn(begun) } }));
  }
  const call = (path: string, cookie: string, body: object) =>
    at(`/control${path}`, {
      method: 'POST',
      headers: { cookie, origin, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify(body),
    });

  let firstKey: string;
  let cookie: string;
  let miasKey: string;

  test('sets up three replicas behind nginx with TLS on an empty database', async () => {
    const port = await freePort();
    origin = `https://localhost:${port}`;
    variables = {};
    execFileSync('/bin/sh', ['-ec', documented('scaling.md', 'mkdir tls && openssl')], {
      cwd: folder,
      stdio: 'ignore',
    });
    const set = await run(`${documented('scaling.md', 'export PUBLIC_URL')}\nenv`);
    variables = Object.fromEntries(
      ['POSTGRES_PASSWORD', 'SLUICE_PASSPHRASE'].map((name) => [
        name,
        new RegExp(`^${name}=(\\w{32})$`, 'm').exec(set)?.[1] ?? '',
      ]),
    );
    agent = new Agent({ connect: { ca: readFileSync(join(folder, 'tls/tls.crt')) } });

    const url = await server.createDatabase();
    await server.query(`CREATE ROLE gateway LOGIN PASSWORD '${variables.POSTGRES_PASSWORD}'`);
    await server.query(`ALTER DATABASE ${url.split('/').at(-1)} OWNER TO gateway`);
    const [hba] = await server.query("SELECT current_setting('hba_file') AS path");
    writeFileSync(String(hba?.path), 'local all gateway scram-sha-256\nlocal all all trust\n');
    await server.query('SELECT pg_reload_conf()');
    writeFileSync(join(folder, 'password'), `${variables.POSTGRES_PASSWORD}\n`);
    writeFileSync(join(folder, 'shared'), `${valkey.url}\n`);
    // As shared-store.md writes a password that is in a file.
    const reference = `file:${encodeURIComponent(join(folder, 'password'))}`;
    expect(page('shared-store.md')).toContain('`file:%2Frun%2Fsecrets%2Fpassword`');
    variables.SLUICE_STORE = url.replace('sluice@', `gateway:${reference}@`);

    replicas = [];
    const places = await Promise.all(
      names.map(async (name) => ({ name, port: await freePort(), folder: join(folder, name) })),
    );
    await Promise.all(places.map(start));
    nginx = await startNginx(
      replicas.map((replica) => `127.0.0.1:${replica.port}`),
      { port, folder: join(folder, 'tls') },
    );
    expect((await at('/readyz')).status).toBe(200);
  });

  test('adds a provider, a group and who may sign in, and makes the first key', async () => {
    identity = await startIdentityProvider(`${origin}/control/signed-in`);
    identity.groups.set('ada', ['sluice-admins']).set('mia', ['ml']);
    writeFileSync(join(folder, 'client-secret'), 'one that the identity provider does not know');
    const [, people = ''] = /The setting `people`[\s\S]*?```json\n([\s\S]*?)```/.exec(page('teams.md')) ?? [];
    const setting = JSON.parse(people);
    expect(setting).toMatchObject({ clientId: 'sluice', clientSecret: 'env:SLUICE_CLIENT_SECRET' });
    const here = { issuer: identity.issuer, clientSecret: `file:${folder}/client-secret` };
    writeFileSync(join(folder, 'people.json'), JSON.stringify({ ...setting, ...here }));

    const add = documented('scaling.md', 'docker compose exec -e OPENAI_API_KEY').replace(/\s*#.*/, '');
    await run(`${add} --url ${upstream.baseUrl} --no-test`, { OPENAI_API_KEY: 'upstream-key' });
    await run(documented('scaling.md', 'docker compose exec sluice-1 sluice group put ml'));
    await run(documented('scaling.md', 'docker compose exec sluice-1 sluice settings set people'));
    firstKey = (await run(documented('scaling.md', 'docker compose exec sluice-1 sluice key create'))).trim();
    await eventually(async () => (await chat(firstKey, each())).every((status) => status === 200));
    expect(await chat(firstKey)).toEqual([200]);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer upstream-key');
  });

  test('replaces the client secret of the sign-in, after which people sign in', async () => {
    expect(await signIn('mia')).toMatch(/-sign-in=$/);
    writeFileSync(join(folder, 'client-secret'), clientSecret);
    cookie = await signIn('mia');
    const made = await call('/execute', cookie, { type: 'key.create', group: 'ml', name: 'Editor', keepSecret: true });
    expect(made.status).toBe(200);
    miasKey = ((await made.json()) as { result: { secret: string } }).result.secret;
    await eventually(async () => (await chat(miasKey, each())).every((status) => status === 200));
  });

  test('signs in on a laptop as administrator, and limits a group at all replicas together', async () => {
    const login = sh(documented('scaling.md', 'sluice login'));
    const address = await eventually(
      () => /https?:\/\/127\.\S+user_code=[\w-]+/.exec(login.output.stderr)?.[0] ?? false,
    );
    await identity.agree(address, 'ada');
    expect(await login.done).toContain('Signed in as ada of Acme');
    await run(documented('scaling.md', 'sluice group put ml --limit'));
    const statuses: number[] = [];
    await eventually(async () => {
      statuses.push(...(await chat(miasKey, each())));
      return statuses.filter((status) => status === 429).length >= 30;
    });
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    // Two minutes may have begun.
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(120);
  });

  test('revokes what somebody has who leaves, at all replicas', async () => {
    const whoAmI = async () => (await call('/query', cookie, { type: 'who-am-i' })).status;
    expect(await whoAmI()).toBe(200);
    identity.groups.delete('mia');
    await run(documented('scaling.md', 'sluice people revoke'));
    await eventually(async () => (await chat(miasKey, each())).every((status) => status === 401));
    expect(await whoAmI()).toBe(401);
    expect(await signIn('mia')).toMatch(/-sign-in=$/);
    expect(await chat(firstKey)).toEqual([200]);
  });

  test('replaces the password of the database, and loses no request', async () => {
    await server.query("ALTER ROLE gateway PASSWORD 'the next one'");
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'gateway'");
    expect(await chat(firstKey, each())).toEqual([200, 200, 200]);
    writeFileSync(join(folder, 'password'), 'the next one\n');
    await recorded();
  });

  test('changes the passphrase, while a replica dies and all are replaced one by one', async () => {
    const next = { SLUICE_NEW_PASSPHRASE: 'the next phrase' };
    await run(documented('shared-store.md', 'sluice passphrase change'), next);
    variables.SLUICE_PASSPHRASE = next.SLUICE_NEW_PASSPHRASE;
    expect(await run('docker compose exec sluice-1 sluice doctor')).toContain('sluice passphrase finish');

    const [victim] = replicas;
    victim?.program.child.kill('SIGKILL');
    for (let sent = 0; sent < 10; sent++) expect(await chat(firstKey)).toEqual([200]);
    if (victim) await start(victim);

    let isOver = false;
    const statuses: number[] = [];
    const load = (async () => {
      while (!isOver) statuses.push(...(await chat(firstKey)));
    })();
    for (const replica of [...replicas]) {
      replica.program.child.kill('SIGTERM');
      expect(await replica.program.ended).toBe(0);
      await start(replica);
    }
    isOver = true;
    await load;
    expect(new Set(statuses)).toEqual(new Set([200]));
    await run(
      documented('shared-store.md', "SLUICE_PASSPHRASE='the new one' sluice passphrase finish").replace(
        'the new one',
        'the next phrase',
      ),
    );
    expect(await chat(firstKey, each())).toEqual([200, 200, 200]);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer upstream-key');
    await recorded();
    expect(await run('docker compose exec sluice-1 sluice doctor')).not.toContain('FAILED');
  });

  /** Waits until each request that was answered is recorded, once. */
  async function recorded(): Promise<void> {
    await eventually(async () => {
      // It cannot be read until the replica has read the new password.
      const text = await run('docker compose exec sluice-1 sluice log --export jsonl').catch(() => '');
      const rows = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): { id: string; status: number } => JSON.parse(line));
      const ok = rows.filter(({ status }) => status === 200);
      expect(new Set(ok.map(({ id }) => id)).size).toBe(ok.length);
      return ok.length === answered;
    });
  }
});

const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-5-mini',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
