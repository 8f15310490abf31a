/**
 * Sluice without what gateways for teams add: a copy of the checkout without `server/team` is what a laptop needs.
 *
 * @suite long
 */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkout, plainEnvironment, startProgram } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-without-team-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ofTeam = /^(?:server|test\/server)\/team\//;
const program = join(folder, 'dist/program/cli.js');

/** What a laptop does: it starts, has keys, answers whole and streamed, is configured in the window and on the command line. */
const laptopSuites = [
  'test/server/control',
  'test/server/http',
  'test/server/cli/bundle.test.ts',
  'test/server/cli/completion.test.ts',
  'test/server/cli/run.test.ts',
  'test/server/cli/serve.test.ts',
  'test/server/cli/team-preset.test.ts',
  'test/server/cli/verbs.test.ts',
  'test/server/cli/window.test.ts',
  'test/server/cli/wrong-arguments.test.ts',
  'test/server/gateway/abandoned-streams.test.ts',
  'test/server/gateway/anthropic-clients.test.ts',
  'test/server/gateway/fallback-streams.test.ts',
  'test/server/gateway/gemini-clients.test.ts',
  'test/server/gateway/limits.test.ts',
  'test/server/gateway/routes.test.ts',
  'test/server/managed-team.test.ts',
];

let removed: string[];
beforeAll(async () => {
  await copyWithoutTeam();
  removed = removeTestsOfTeam();
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'), 'junction');
});

async function run(script: string, parameters: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, 'node_modules', script), ...parameters],
    {
      cwd: folder,
      env: plainEnvironment,
      maxBuffer: 64 * 1024 * 1024,
    },
  ).catch((error: Error & { stdout?: string; stderr?: string }) => {
    throw new Error(`${script} ${parameters.join(' ')} failed:\n${error.stdout ?? ''}\n${error.stderr ?? ''}`);
  });
  return stdout;
}

test('passes the compiler, and with it all tests but the team’s own', { timeout: 600_000 }, async () => {
  expect(removed.filter((path) => !/^test\/(?:server\/team|e2e)\//.test(path))).toEqual([]);
  for (const project of ['electron', 'renderer', 'test']) await run('typescript/bin/tsc', ['-p', project]);
});

test('is built, and runs what a laptop needs', { timeout: 900_000 }, async () => {
  await run('vite/bin/vite.js', ['build', '--app']);
  const bundled = /^\/\/ (?:.*node_modules\/(?:iovalkey|openid-client)|server\/team)\//m;
  const files = globSync('*.js', { cwd: dirname(program) });
  expect(files.filter((name) => bundled.test(readFileSync(join(dirname(program), name), 'latin1')))).toEqual([]);
  const report = join(folder, 'report.json');
  await run('vitest/vitest.mjs', ['run', '--reporter=json', `--outputFile=${report}`, ...laptopSuites]);
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  expect(numFailedTests).toBe(0);
  expect(numPassedTests).toBeGreaterThan(500);
});

test.each([
  [['serve', '--public-url', 'https://gateway.example'], '--public-url: this build of Sluice has no part for teams.'],
  [['serve', '--shared', 'valkey://127.0.0.1'], '--shared: this build of Sluice has no part for teams.'],
  [['key', 'list', '--gateway', 'https://a.example'], '--gateway: this build of Sluice has no part for teams.'],
  [['join', 'https://gateway.example'], 'There is no command "join".'],
])('tells who asks for the team that it has none: %j', async (words, told) => {
  const { ended, output } = startProgram([...words, '--data-dir', join(folder, 'data')], { program });
  expect(await ended).toBe(2);
  expect(output.stderr).toContain(told);
});

async function copyWithoutTeam(): Promise<void> {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', listed, { cwd: checkout, maxBuffer: 16 * 1024 * 1024 });
  for (const path of stdout.split('\0')) {
    if (path === '' || ofTeam.test(path) || !existsSync(join(checkout, path))) continue;
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    copyFileSync(join(checkout, path), join(folder, path));
  }
  const parts = join(folder, 'server/optional-parts.ts');
  const lines = readFileSync(parts, 'utf8').split('\n');
  const others = lines.filter((line) => !line.includes("import('./team/"));
  expect(others).toHaveLength(lines.length - 1);
  writeFileSync(parts, others.join('\n'));
}

/** Those that import a file that is not there, and those that import one of these. */
function removeTestsOfTeam(): string[] {
  const removed: string[] = [];
  for (;;) {
    const unusable = globSync('test/**/*.ts', { cwd: folder }).filter((path) =>
      importsOf(path).some((imported) => !existsSync(imported)),
    );
    if (unusable.length === 0) return removed;
    for (const path of unusable) rmSync(join(folder, path));
    removed.push(...unusable);
  }
}

function importsOf(path: string): string[] {
  const text = readFileSync(join(folder, path), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']*\.tsx?)'/g)].map(([, name = '']) =>
    join(folder, dirname(path), name),
  );
}
