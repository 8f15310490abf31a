/**
 * The steps of the workflows that start a program: the built one; an image, for which a stand-in for Docker runs the program;
 * and npm, also by a stand-in.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtProgram, checkout, collectOutput, ensureBuilt, plainEnvironment } from '../support/program.ts';

const homepage = 'https://github.com/Example/Sluice';

let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
  writeFileSync(join(folder, 'docker'), `#!${process.execPath}\n${standIn}`);
  chmodSync(join(folder, 'docker'), 0o755);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function runStep(name: string, parameters: readonly string[], image: object = {}) {
  const child = spawn(process.execPath, [join(checkout, `build/release/${name}.ts`), ...parameters], {
    env: {
      ...plainEnvironment,
      PATH: [folder, plainEnvironment.PATH].join(delimiter),
      SLUICE_SECRETS: 'file',
      SLUICE_HOMEPAGE: homepage,
      STAND_IN: JSON.stringify({ folder, program: builtProgram, ...image }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  const [code] = await once(child, 'close');
  return { code, ...output };
}

describe('a program', () => {
  test('that serves is passed', async () => {
    const step = await runStep('try-program', [process.execPath, builtProgram, 'serve', '--port', '0']);
    expect(step).toMatchObject({ code: 0, stdout: expect.stringMatching(/ serves\.\n$/) });
  });

  test.each(['linux-arm64-unpacked/sluice', 'win-unpacked/Sluice.exe', 'mac-arm64/Sluice.app/Contents/MacOS/Sluice'])(
    'is found where electron-builder packs it: %s',
    async (path) => {
      const packed = mkdtempSync(join(folder, 'packed-'));
      mkdirSync(dirname(join(packed, path)), { recursive: true });
      writeFileSync(join(packed, path), `#!/bin/sh\nexec "${process.execPath}" "${builtProgram}" serve --port 0\n`);
      chmodSync(join(packed, path), 0o755);
      const step = await runStep('try-program', ['--packed', packed]);
      expect(step).toMatchObject({ code: 0, stdout: expect.stringContaining(`${join(packed, path)} serves.`) });
    },
  );

  test('that was not packed is not', async () => {
    const step = await runStep('try-program', ['--packed', join(folder, 'nothing')]);
    expect(step).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no packed program') });
  });

  test('that ends before it serves is not', async () => {
    const step = await runStep('try-program', [process.execPath, '--eval', 'process.exit(7)']);
    expect(step).toMatchObject({ code: 1, stderr: 'The program has ended with 7.\n' });
  });

  test('that cannot be started is not', async () => {
    const step = await runStep('try-program', [join(folder, 'nothing')]);
    expect(step).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOENT') });
  });
});

describe('the name of the package', () => {
  const { name } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  /** With an npm that prints this as its answer. */
  async function checkName(answer: string) {
    const script = `process.stdout.write(process.argv[3] === '${name}' ? ${JSON.stringify(answer)} : '');`;
    writeFileSync(join(folder, 'npm'), `#!${process.execPath}\n${script}`);
    chmodSync(join(folder, 'npm'), 0o755);
    return await runStep('check-name', []);
  }

  test('is passed if nobody has it, or this repository', async () => {
    const nobody = await checkName('{ "error": { "code": "E404", "summary": "Not Found" } }');
    expect(nobody).toMatchObject({ code: 0, stdout: expect.stringContaining(`Nobody has ${name} at npm.`) });
    expect(await checkName(`"git+${homepage}.git"`)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.each([
    [
      'somebody else has it',
      '"git+https://github.com/somebody/sluice.git"',
      'belongs to git+https://github.com/somebody',
    ],
    ['a package of unknown origin has it', '', 'belongs to a package without a repository'],
    ['npm does not answer', '{ "error": { "code": "E500", "summary": "broken" } }', 'npm cannot tell who has'],
  ])('is refused if %s', async (_case, answer, problem) => {
    expect(await checkName(answer)).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
  });
});

const names = ['title', 'description', 'licenses', 'source', 'version', 'revision'];
const Labels = Object.fromEntries(names.map((name) => [`org.opencontainers.image.${name}`, name]));
const config = { User: 'node', Labels, Healthcheck: { Test: ['CMD', 'true'] } };

describe('an image', () => {
  test('that runs without privileges and answers a chat is passed, and its container removed', async () => {
    const step = await runStep('check-image', ['sluice:tried'], { config });
    expect(step).toEqual({ code: 0, stdout: '', stderr: '' });
    const commands = readFileSync(join(folder, 'commands'), 'utf8').trim().split('\n');
    const [run = ''] = commands.filter((each) => each.startsWith('run '));
    for (const option of ['--read-only', '--tmpfs /tmp', '--cap-drop ALL', '--security-opt no-new-privileges']) {
      expect(run).toContain(option);
    }
    expect(commands.at(-1)).toMatch(/^rm --force \d+$/);
  });

  test.each([
    ['', 'The image runs as root.'],
    ['0:0', 'The image runs as root.'],
    ['root', 'The image runs as root.'],
  ])('of the user "%s" is refused', async (User, problem) => {
    const step = await runStep('check-image', ['sluice:tried'], { config: { ...config, User } });
    expect(step).toMatchObject({ code: 1, stderr: `${problem}\n` });
  });

  test('without labels and health check is refused', async () => {
    const step = await runStep('check-image', ['sluice:tried'], { config: { User: 'node', Labels: null } });
    const missing = names.map((name) => `The image has no label org.opencontainers.image.${name}.\n`).join('');
    expect(step).toMatchObject({ code: 1, stderr: `${missing}The image has no health check.\n` });
  });

  const attached = { 'linux/amd64': { SPDX: {} }, 'linux/arm64': { SPDX: {} } };
  test('that is published for both processors is passed', async () => {
    const step = await runStep('check-image', ['--published', 'ghcr.io/example/sluice:1.2.3'], { attached });
    expect(step).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('that is published without provenance for one processor is refused', async () => {
    const parts = { attached, provenance: { 'linux/amd64': {} } };
    const step = await runStep('check-image', ['--published', 'ghcr.io/example/sluice:1.2.3'], parts);
    expect(step).toMatchObject({ code: 1, stderr: 'The image for linux/arm64 has no provenance.\n' });
  });
});

test('the Dockerfile and the workflow together give an image the labels that are asked for', () => {
  const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
  const given = `${read('Dockerfile')}${read('.github/workflows/release.yml')}`.matchAll(
    / (org\.opencontainers\.\S+?)=/g,
  );
  expect([...given].map(([, name]) => name).sort()).toEqual(Object.keys(Labels).sort());
});

/** Answers the commands of `docker` that the step uses. A container is a process, its id the process's. */
const standIn = `
const { spawn } = require('node:child_process');
const { appendFileSync, mkdirSync, openSync, readFileSync } = require('node:fs');
const parameters = process.argv.slice(2);
const { folder, program, config, attached, provenance = attached } = JSON.parse(process.env.STAND_IN);
appendFileSync(folder + '/commands', parameters.join(' ') + '\\n');
const logOf = (id) => readFileSync(folder + '/log', 'utf8');
const answers = {
  image: () => JSON.stringify(config),
  run: () => {
    const log = openSync(folder + '/log', 'w');
    const data = folder + '/data-' + process.pid;
    mkdirSync(data);
    const serve = parameters.slice(parameters.indexOf('serve'));
    const env = { ...process.env, SLUICE_DATA_DIR: data };
    const child = spawn(process.execPath, [program, ...serve, '--port', '0'], { env, detached: true, stdio: ['ignore', log, log] });
    child.unref();
    return child.pid;
  },
  logs: () => logOf(),
  port: () => '127.0.0.1:' + new URL(JSON.parse(logOf().split('\\n').find((line) => line.startsWith('{"event":"ready"'))).baseUrl).port,
  rm: () => process.kill(Number(parameters.at(-1)), 'SIGKILL'),
  buildx: () => JSON.stringify(parameters.at(-1).includes('SBOM') ? attached : provenance),
};
console.log(answers[parameters[0]]());
`;
