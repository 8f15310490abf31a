/**
 * `npm test`: checks what the tests need on this machine, and runs every check except the suites with their own
 * commands (`test/suites.ts`). A failed check does not stop the others. The output ends with the failures and one line
 * with the numbers of passed and failed tests.
 * `node test/run.ts SUITE …` runs these suites instead: gallery, replicas, long, sweeps, fuzz, soak, coverage.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { outcomeVariable, type TestOutcome } from './outcome-reporter.ts';
import { prepareMachine } from './prepare-machine.ts';
import { apart, excluding, isSuite, measured, ownProcess, runOf, type Suite } from './suites.ts';

interface Outcome extends TestOutcome {
  name: string;
  seconds: number;
}

const root = join(import.meta.dirname, '..');
const isWindows = process.platform === 'win32';

/**
 * The number of workers for files that share workers, in addition to one worker per processor for the other files: most
 * tests spend half of their time waiting for sockets, timers and pages.
 */
const sharedWorkers = availableParallelism() + 3;

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !isSuite(name));
if (unknown.length > 0) throw new Error(`There is no suite ${unknown.join(', ')}.`);
const named = positionals.filter(isSuite);
summarize(named.length > 0 ? await runSuites(named) : await runAll());

async function runAll(): Promise<Outcome[]> {
  const alone = ['test/architecture.test.ts', ...measured(root)];
  const own = ownProcess(root);
  const others = apart(root);
  const before = [
    await runStep('machine', () => prepareMachine(root)),
    await build(),
    await runTests('architecture and work', alone),
  ];
  const together = await Promise.all([
    runTests('tests that share their workers', [
      ...['--no-isolate', `--maxWorkers=${sharedWorkers}`],
      ...excluding([...alone, ...own, ...others]),
    ]),
    runTests('tests in processes of their own', [...own, ...excluding([...alone, ...others])]),
    runStep('type check', checkTypes),
    runStep('lint', () => runTool('biome', ['check', '--error-on-warnings', '.'])),
  ]);
  return [...before, ...together];
}

async function runSuites(names: readonly Suite[]): Promise<Outcome[]> {
  const { parameters, env, needsServers } = runOf(names, root);
  Object.assign(process.env, env);
  return [
    await runStep('machine', () => prepareMachine(root, { needsServers })),
    await build(),
    await runTests(names.join(', '), parameters),
  ];
}

/** Builds as the first start does, so that the tests run an up-to-date program. */
function build(): Promise<Outcome> {
  return runStep('build', () => runProgram(process.execPath, ['build/launch.ts', '--version']));
}

/**
 * TypeScript runs with a single thread, because several threads would each check the shared files. The projects are
 * checked one after another.
 */
async function checkTypes(): Promise<boolean> {
  const results: boolean[] = [];
  for (const project of ['test', 'electron', 'renderer'])
    results.push(await runTool('tsc', ['-p', project, '--singleThreaded']));
  return !results.includes(false);
}

async function runStep(name: string, step: () => boolean | Promise<boolean>): Promise<Outcome> {
  console.log(`\n── ${name}`);
  const startedMs = Date.now();
  const isGood = await step();
  const seconds = (Date.now() - startedMs) / 1000;
  return { name, seconds, passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, failures: [], retried: [] };
}

async function runTests(name: string, parameters: string[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-run-'));
  const file = join(folder, 'outcome.json');
  try {
    const reporters = ['--reporter=default', '--reporter=./test/outcome-reporter.ts'];
    const run = () => runTool('vitest', ['run', ...reporters, ...parameters], { [outcomeVariable]: file });
    const step = await runStep(name, run);
    const outcome = readOutcome(file);
    // An error of the run that is not a failed test also counts as a failure.
    return { ...step, ...outcome, failed: Math.max(outcome.failed, step.failed) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOutcome(file: string): TestOutcome {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`The tests did not run to their end: ${error}`], retried: [] };
  }
}

function runTool(tool: string, parameters: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  return runProgram(join(root, 'node_modules/.bin', isWindows ? `${tool}.cmd` : tool), parameters, env);
}

async function runProgram(
  program: string,
  parameters: readonly string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  const child = spawn(program, parameters, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
    shell: program.endsWith('.cmd'),
  });
  const [code] = await once(child, 'close');
  return code === 0;
}

function summarize(results: readonly Outcome[]): void {
  console.log('\n── summary');
  for (const { name, passed, failed, seconds, failures, retried } of results) {
    console.log(
      `${failed > 0 ? 'FAILED' : 'ok    '}  ${name} (${passed} passed, ${failed} failed, ${seconds.toFixed(1)} s)`,
    );
    for (const failure of failures) console.log(`  failed: ${failure}`);
    for (const test of retried) console.log(`  passed at its second try: ${test}`);
  }
  const sum = (field: 'passed' | 'failed') => results.reduce((total, each) => total + each[field], 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}
