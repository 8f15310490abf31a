/**
 * `npm test`: sees to what the tests need of the machine, then runs every check but the suites that have commands of their own
 * (`test/suites.ts`), one after the other, and ends with what failed and one line of how many passed and failed. A check that
 * fails does not keep the others from running.
 * `node test/run.ts SUITE …` runs these suites instead: gallery, replicas, sweeps, fuzz, soak, coverage.
 */
import { spawn, spawnSync } from 'node:child_process';
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
const pathOf = (tool: string) => join(root, 'node_modules/.bin', isWindows ? `${tool}.cmd` : tool);

/** Most of the tests wait for sockets, timers and pages half of the time, so a processor has something to do with more of them. */
const sharedWorkers = availableParallelism() + 2;

/** As the first start builds, so that the tests find what they run up to date. */
const buildLine = ['build/launch.ts', '--version'];

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !isSuite(name));
if (unknown.length > 0) throw new Error(`There is no suite ${unknown.join(', ')}.`);
const named = positionals.filter(isSuite);
summarize(named.length > 0 ? runSuites(named) : await runAll());

async function runAll(): Promise<Outcome[]> {
  const alone = ['test/architecture.test.ts', ...measured];
  const own = ownProcess(root);
  const others = apart(root);
  return [
    runStep('machine', () => prepareMachine(root)),
    ...(await checkAndBuild()),
    runTests('architecture and work', alone),
    runTests('tests that share their workers', [
      ...['--no-isolate', `--maxWorkers=${sharedWorkers}`],
      ...excluding([...alone, ...own, ...others]),
    ]),
    runTests('tests in processes of their own', [...own, ...excluding([...alone, ...others])]),
  ];
}

/** Beside one another. With several threads TypeScript checks what they all need once in each, so it has one for each project. */
async function checkAndBuild(): Promise<Outcome[]> {
  console.log('\n── type check, lint, build');
  const projects = ['test', 'electron', 'renderer'].map((project) => ['-p', project, '--singleThreaded']);
  return Promise.all([
    runBeside('type check', pathOf('tsc'), projects),
    runBeside('lint', pathOf('biome'), [['check', '--error-on-warnings', '.']]),
    runBeside('build', process.execPath, [buildLine]),
  ]);
}

function runSuites(names: readonly Suite[]): Outcome[] {
  const { parameters, env, needsServers } = runOf(names, root);
  Object.assign(process.env, env);
  return [
    runStep('machine', () => prepareMachine(root, { needsServers })),
    build(),
    runTests(names.join(', '), parameters),
  ];
}

function build(): Outcome {
  return runStep('build', () => runNode(...buildLine));
}

function runStep(name: string, step: () => boolean): Outcome {
  console.log(`\n── ${name}`);
  const startedMs = Date.now();
  return outcomeOf(name, step(), startedMs);
}

/** A tool with each of these parameters, without keeping others from running meanwhile. */
async function runBeside(name: string, program: string, runs: readonly string[][]): Promise<Outcome> {
  const startedMs = Date.now();
  const results = await Promise.all(runs.map((parameters) => runProgramBeside(program, parameters)));
  return outcomeOf(name, !results.includes(false), startedMs);
}

function outcomeOf(name: string, isGood: boolean, startedMs: number): Outcome {
  const seconds = (Date.now() - startedMs) / 1000;
  return { name, seconds, passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, failures: [], retried: [] };
}

function runTests(name: string, parameters: string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-run-'));
  const file = join(folder, 'outcome.json');
  process.env[outcomeVariable] = file;
  try {
    const reporters = ['--reporter=default', '--reporter=./test/outcome-reporter.ts'];
    const step = runStep(name, () => runTool('vitest', 'run', ...reporters, ...parameters));
    const outcome = readOutcome(file);
    // Whatever else makes the run end with an error is a failure too.
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

function runTool(tool: string, ...parameters: string[]): boolean {
  return spawnSync(pathOf(tool), parameters, { cwd: root, stdio: 'inherit', shell: isWindows }).status === 0;
}

async function runProgramBeside(program: string, parameters: readonly string[]): Promise<boolean> {
  const child = spawn(program, parameters, { cwd: root, stdio: 'inherit', shell: program.endsWith('.cmd') });
  const [code] = await once(child, 'close');
  return code === 0;
}

function runNode(...parameters: string[]): boolean {
  return spawnSync(process.execPath, parameters, { cwd: root, stdio: 'inherit' }).status === 0;
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
