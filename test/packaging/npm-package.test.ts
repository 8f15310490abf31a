/**
 * The package that `npm pack` creates: what is in it, and that it runs where nothing else is installed, on each Node that
 * `engines` in package.json allows.
 *
 * @suite long
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import {
  bareEnvironment,
  findNode,
  firstAnswer,
  makeEmptyRoot,
  newestNode,
  npmProgram,
  offlineInstall,
  oldestNode,
  type Packed,
  packPackage,
  rootChanger,
  runNpm,
  whyNoRegistry,
} from '../support/npm-package.ts';
import { onlyIf } from '../support/only-if.ts';
import { plainEnvironment } from '../support/program.ts';

const noRegistry = await whyNoRegistry();
const withRegistry = test.runIf(onlyIf(noRegistry === undefined, noRegistry ?? ''));
const changer = rootChanger();

const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const project = join(folder, 'project');
/** As npm has unpacked it. */
const installed = join(project, 'node_modules', manifest.name);
const command = join(project, 'node_modules/.bin/sluice');
const environment = {
  ...plainEnvironment,
  PATH: [dirname(process.execPath), plainEnvironment.PATH].join(delimiter),
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
};

let packed: Packed;
beforeAll(async () => {
  packed = await packPackage(folder);
  await runNpm(process.execPath, project, ['install', ...offlineInstall, packed.archive]);
}, 120_000);

function run(program: string, parameters: readonly string[], cwd: string) {
  return promisify(execFile)(program, parameters, { cwd, env: environment });
}

describe('the package', () => {
  test('contains the program, its window, and what a person or an auditor reads, in 5.5 MB', () => {
    const wanted =
      /^(package\.json|README\.md|LICENSE|dist\/(THIRD-PARTY-NOTICES\.txt|sluice\.cdx\.json|(program|window)\/.+))$/;
    expect(packed.files.filter((file) => !wanted.test(file))).toEqual([]);
    expect(packed.files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/window/index.html']));
    expect(packed.files.filter((file) => /\.(map|tsx?|node)$|\.test\./.test(file))).toEqual([]);
    expect(packed.bytes).toBeLessThan(5_500_000);
  });

  test('is ready without an install script, and needs no other package', () => {
    const told = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const member of ['scripts', 'dependencies', 'devDependencies', 'private'])
      expect(told[member]).toBeUndefined();
    expect(Object.keys(told.optionalDependencies)).toEqual(['@napi-rs/keyring']);
    expect(told).toMatchObject({
      peerDependencies: { keytar: '^7.9.0' },
      peerDependenciesMeta: { keytar: { optional: true } },
    });
    expect(Object.keys(told.bin)).toEqual(['sluice']);
    expect(readdirSync(join(project, 'node_modules'))).toEqual(['.bin', '.package-lock.json', manifest.name]);
  });

  test('has another name where it is released under one', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'sluice-scoped-'));
    const { archive } = await packPackage(elsewhere, { SLUICE_PACKAGE_NAME: '@owner/sluice' });
    expect(basename(archive)).toBe(`owner-sluice-${manifest.version}.tgz`);
    await runNpm(process.execPath, join(elsewhere, 'project'), ['install', ...offlineInstall, archive]);
    expect(existsSync(join(elsewhere, 'project/node_modules/@owner/sluice/dist/program/sluice.cjs'))).toBe(true);
    expect(existsSync(join(elsewhere, 'project/node_modules/.bin/sluice'))).toBe(true);
    rmSync(elsewhere, { recursive: true });
  });

  test('has names and paths that Windows takes', () => {
    const names = packed.files.flatMap((file) => file.split('/'));
    const isIllegal = /[<>:"\\|?*\p{Cc}]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/iu;
    expect(names.filter((name) => isIllegal.test(name))).toEqual([]);
    expect(new Set(packed.files.map((file) => file.toLowerCase())).size).toBe(packed.files.length);
    expect(Math.max(...packed.files.map((file) => file.length))).toBeLessThan(100);
    // npm makes a command for Windows from this line, which must not end with CR.
    expect(readFileSync(join(installed, manifest.bin.sluice), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('imports files by names, never by a path that would have to be a URL on Windows', () => {
    const texts = programTexts();
    expect(texts.length).toBeGreaterThan(50);
    const imports = texts.flatMap((text) => text.match(/(?<![\w.$])import\((?!\))[^)]*/g) ?? []);
    expect(imports.length).toBeGreaterThan(50);
    expect(imports.filter((each) => !/^import\(['"]/.test(each))).toEqual([]);
    expect(texts.filter((text) => /new URL\([^)]*import\.meta\.url\)\.pathname/.test(text))).toEqual([]);
  });
});

describe('what it is made of', () => {
  const bill = () => JSON.parse(readFileSync(join(installed, 'dist/sluice.cdx.json'), 'utf8'));
  const components = (): { name: string; version: string; purl: string }[] => bill().components;

  test('stands in its bill of materials: every package that the bundler has left a trace of', () => {
    const named = new Set(components().map(({ name }) => name));
    const traces = programTexts().flatMap((text) => [
      ...text.matchAll(/^\/\/ (?:.*\/)?node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm),
    ]);
    const inProgram = new Set(traces.map(([, name]) => name ?? ''));
    expect(inProgram.size).toBeGreaterThan(50);
    expect([...inProgram].filter((name) => !named.has(name))).toEqual([]);
    // Those of the window, whose files keep no traces.
    expect([...named]).toEqual(
      expect.arrayContaining(['react', 'react-dom', '@mantine/core', 'wouter', 'react-markdown']),
    );
    for (const name of ['vite', 'vitest', 'typescript', 'electron']) expect(named).not.toContain(name);
    expect(bill()).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: manifest.name, version: manifest.version } },
    });
  });

  test('is the version that is installed, with its licence among the notices', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const { name, version, purl } of components()) {
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      expect(notices).toContain(`\n${name} ${version} (`);
    }
  });
});

/** The JavaScript files of the program. */
function programTexts(): string[] {
  const names = packed.files.filter((file) => /^dist\/program\/.*\.c?js$/.test(file));
  return names.map((name) => readFileSync(join(installed, name), 'utf8'));
}

describe('where nothing else is installed', () => {
  const asks = `
    const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
    const response = await fetch(OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    console.log(response.headers.get('x-sluice-replay'), response.status);
  `;

  test('it records and replays with npx', { timeout: 120_000 }, async () => {
    writeFileSync(join(project, 'ask.mjs'), asks);
    const verb = (name: string) =>
      run('npx', ['--offline', 'sluice', name, '--cassette', 'cassettes', '--', 'node', 'ask.mjs'], project);
    expect(await verb('record')).toEqual({ stdout: 'null 200\n', stderr: 'Cassette cassettes: 1 recorded.\n' });
    expect(await verb('replay')).toEqual({
      stdout: 'hit 200\n',
      stderr: 'Cassette cassettes: 1 replayed, 0 without a recording.\n',
    });
  });

  withRegistry.each([
    ['oldest', async () => oldestNode],
    ['newest', newestNode],
  ])('it answers within 15 s of its installation on the %s Node', { timeout: 300_000 }, async (which, version) => {
    const node = await findNode(await version());
    const home = join(folder, which);
    const startedMs = Date.now();
    await runNpm(node, home, ['install', ...offlineInstall, packed.archive]);
    const answer = await firstAnswer([join(home, 'node_modules/.bin/sluice')], bareEnvironment(node, home));
    const seconds = (Date.now() - startedMs) / 1000;
    console.log(`Node ${await version()}: an answer ${seconds.toFixed(1)} s after "npm install" began.`);
    expect(answer).not.toBe('');
    expect(seconds).toBeLessThan(15);
  });

  test.runIf(
    onlyIf(noRegistry === undefined && changer !== undefined, noRegistry ?? 'no process may change its root here'),
  )('it answers in an empty root, with Node from the registry', { timeout: 300_000 }, async () => {
    const node = await findNode(oldestNode);
    const root = makeEmptyRoot(join(folder, 'root'), changer ?? [], node, packed.archive);
    const env = { PATH: '/bin', HOME: '/home' };
    const inRoot = [...root.enter, '/usr/bin/env', '-i', ...Object.entries(env).map((pair) => pair.join('='))];
    const [file = '', ...before] = inRoot;
    const startedMs = Date.now();
    const install = ['install', '--prefix', '/home', ...offlineInstall, root.archive];
    await run(file, [...before, '/bin/node', root.npm, ...install], folder);
    const answer = await firstAnswer([...inRoot, '/home/node_modules/.bin/sluice'], environment);
    console.log(`In an empty root: an answer after ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`);
    expect(answer).not.toBe('');
  });

  /** With what reaching the registry takes here. */
  async function install(home: string, [file = '', ...parameters]: readonly string[]): Promise<void> {
    mkdirSync(home, { recursive: true });
    const env = { ...process.env, PATH: environment.PATH };
    await promisify(execFile)(file, parameters, { cwd: home, env, timeout: 100_000 });
  }

  withRegistry('npm installs it for all, with its optional packages and no script', { timeout: 120_000 }, async () => {
    const prefix = join(folder, 'global');
    const options = ['install', '-g', '--prefix', prefix, '--ignore-scripts', '--no-audit'];
    await install(prefix, [process.execPath, npmProgram(), ...options, packed.archive]);
    expect(readdirSync(join(prefix, 'lib/node_modules', manifest.name, 'node_modules/@napi-rs'))).toContain('keyring');
    expect(await firstAnswer([join(prefix, 'bin/sluice')], bareEnvironment(process.execPath, prefix))).not.toBe('');
  });

  withRegistry('pnpm installs it without being told to run a script', { timeout: 120_000 }, async () => {
    const tools = join(folder, 'tools');
    await install(tools, [process.execPath, npmProgram(), 'install', '--prefix', tools, '--no-audit', 'pnpm@12']);
    const home = join(folder, 'with-pnpm');
    await install(home, [join(tools, 'node_modules/.bin/pnpm'), 'add', packed.archive]);
    const env = { ...environment, HOME: home };
    expect(await firstAnswer([join(home, 'node_modules/.bin/sluice')], env)).not.toBe('');
  });

  withRegistry('an older Node is told in one sentence what to install', { timeout: 300_000 }, async () => {
    for (const version of ['16.20.2', '18.20.8', '20.20.2']) {
      const env = bareEnvironment(await findNode(version), folder);
      const failed = await promisify(execFile)(command, [], { env }).catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 1, stdout: '' });
      const wanted = `22.22.3 or a later 22, or 24.15.0 or newer; this is Node ${version}`;
      expect(failed).toMatchObject({
        stderr: `sluice: Sluice needs Node ${wanted}: install a newer one, for example from https://nodejs.org.\n`,
      });
    }
  });
});
