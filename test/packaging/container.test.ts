/**
 * The container image. Its Dockerfile is linted, and its commands run here on the files that it copies, in a folder
 * instead of the image's root. If Docker is installed, the image itself is built and started.
 *
 * @suite long
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { onlyIf } from '../support/only-if.ts';
import { checkout, collectOutput, plainEnvironment, type Ready, readyOf } from '../support/program.ts';

const canMount = spawnSync('unshare', ['--mount', 'mount', '--make-rprivate', '/'], { stdio: 'ignore' }).status === 0;

const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
const runStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

/** The words of an instruction in JSON form. */
function words(instruction: string): string[] {
  const found = new RegExp(String.raw`^${instruction}.*?(\[.*\])$`, 'm').exec(runStage)?.[1];
  if (!found) throw new Error(`The Dockerfile has no ${instruction} in JSON form.`);
  return JSON.parse(found) as string[];
}

test('the Dockerfile passes the linter, and the program does not run as root', () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(runStage).toMatch(/^USER node$/m);
});

test('the image is for any processor: what is built runs on this one, and only plain files are copied from there', () => {
  const stages = dockerfile.match(/^FROM .+$/gm);
  expect(stages).toEqual([
    'FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build',
    'FROM node:24-bookworm-slim',
  ]);
  expect(dockerfile).toMatch(/^RUN npm ci --ignore-scripts$/m);
  expect(dockerfile).not.toMatch(/amd64|arm64|x86_64|aarch64/);
  expect(runStage.match(/^RUN .+$/gm)?.join()).not.toMatch(/npm|apt|curl/);
});

test('the compose file grants no privileges and opens no port beyond this machine', () => {
  const compose = parse(readFileSync(join(checkout, 'compose.yaml'), 'utf8')) as { services: { sluice: object } };
  expect(compose.services.sluice).toMatchObject({
    ports: ['127.0.0.1:4810:4810'],
    read_only: true,
    cap_drop: ['ALL'],
    volumes: ['sluice:/data'],
  });
});

describe('the commands of the Dockerfile', () => {
  let root: string;
  let child: ChildProcess;
  let ready: Ready;
  const inRoot = (word: string) => word.replace(/^\/(?=app|data)/, `${root}/`);
  const env = () => ({
    ...plainEnvironment,
    NODE_ENV: 'production',
    SLUICE_DATA_DIR: join(root, 'data'),
    SLUICE_SECRETS: 'file',
  });
  async function startAsTheImageDoes(before: string[], environment: NodeJS.ProcessEnv) {
    const [command = '', ...parameters] = [...before, ...words('ENTRYPOINT').map(inRoot), ...words('CMD')];
    const started = spawn(command, [...parameters, '--port', '0', '--json'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(started, 'close').then(([code]): number | null => code);
    return { child: started, ready: await readyOf({ child: started, output: collectOutput(started), ended }), ended };
  }
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'sluice-image-'));
    buildAsTheImageDoes(root);
    ({ child, ready } = await startAsTheImageDoes([], env()));
  });
  afterAll(() => {
    child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  test('serve the demo and the window', async () => {
    const models = await fetch(`${ready.baseUrl}/models`, { headers: { authorization: `Bearer ${ready.key}` } });
    expect(models.status).toBe(200);
    const page = await fetch(ready.windowUrl);
    expect(await page.text()).toContain('<title>Sluice');
  });

  test.runIf(onlyIf(canMount, 'this user may not mount'))(
    'serve where nothing but the data folder can be written, as with --read-only',
    async () => {
      const data = join(root, 'only-data');
      mkdirSync(data);
      const mounts =
        'mount --make-rprivate / && mount -t tmpfs -o mode=700 none "$0" && mount -o remount,bind,ro / && exec "$@"';
      const started = await startAsTheImageDoes(['unshare', '--mount', 'sh', '-c', mounts, data], {
        ...env(),
        SLUICE_DATA_DIR: data,
      });
      const answer = await fetch(`${started.ready.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${started.ready.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect(answer.status).toBe(200);
      started.child.kill('SIGTERM');
      expect(await started.ended).toBe(0);
      expect(readdirSync(data)).toEqual([]);
    },
  );

  test('distinguish a healthy gateway from one that is gone, and end cleanly on SIGTERM', async () => {
    const [command = '', ...parameters] = words('HEALTHCHECK').map((word) =>
      word.replace('127.0.0.1:4810', new URL(ready.baseUrl).host),
    );
    const health = () => spawnSync(command, parameters, { env: env() }).status;
    expect(health()).toBe(0);
    child.kill('SIGTERM');
    await eventually(() => child.exitCode !== null);
    expect(child.exitCode).toBe(0);
    expect(health()).toBe(1);
  });
});

/**
 * Runs the build stage on the files that `.dockerignore` lets through, then the COPY instructions of the second stage.
 */
function buildAsTheImageDoes(root: string): void {
  const source = join(root, 'src');
  mkdirSync(source);
  mkdirSync(join(root, 'data'));
  const passed = readFileSync(join(checkout, '.dockerignore'), 'utf8').match(/^!.+$/gm) ?? [];
  for (const name of passed.flatMap((line) => expand(line.slice(1)))) {
    cpSync(join(checkout, name), join(source, name), { recursive: true });
  }
  // Replaces `npm ci`.
  symlinkSync(join(checkout, 'node_modules'), join(source, 'node_modules'));
  const [, build = ''] = /^RUN (npm run .+)$/m.exec(dockerfile) ?? [];
  execFileSync('sh', ['-c', build], { cwd: source, env: plainEnvironment, stdio: 'pipe' });
  for (const [, from = '', to = ''] of runStage.matchAll(/^COPY --from=build (\S+) (\S+)$/gm)) {
    cpSync(join(root, from), join(root, to), { recursive: true });
  }
}

function expand(name: string): string[] {
  return name === 'tsconfig*.json' ? ['tsconfig.json', 'tsconfig.base.json'] : [name];
}

const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;

test.runIf(onlyIf(hasDocker, 'Docker is not installed'))(
  'the image is built and serves from a read-only root',
  { timeout: 600_000 },
  async () => {
    const docker = (...parameters: string[]) => execFileSync('docker', parameters, { cwd: checkout, encoding: 'utf8' });
    docker('build', '--quiet', '--tag', 'sluice:test', '.');
    const id = docker('run', '--detach', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', 'sluice:test').trim();
    try {
      await eventually(() => docker('logs', id).includes('Sluice is ready.'));
      expect(docker('exec', id, 'sluice', 'status')).toContain('is running at');
    } finally {
      docker('rm', '--force', id);
    }
  },
);
