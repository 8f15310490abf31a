/** Which files of tests belong to which command; `npm test` runs all but those of the others. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const suiteNames = ['gallery', 'replicas', 'sweeps', 'fuzz', 'soak', 'coverage'] as const;
export type Suite = (typeof suiteNames)[number];

/** What a suite gives to Vitest. */
interface SuiteRun {
  parameters: string[];
  env?: Record<string, string>;
  /** Some of its tests need a real PostgreSQL, Valkey or nginx. */
  needsServers?: boolean;
}

const gallery = 'test/e2e/gallery.test.ts';
/** How the tests are called that are there once for each appearance. */
const appearance = String.raw`\d+ px, (light|dark), `;

/** What `npm test` leaves out: each needs servers or minutes, or says more where nothing else runs beside it. */
export function apart(root: string): string[] {
  return [gallery, 'test/fuzz/*', 'test/soak/*', ...needingServers(root)];
}

/** The files whose tests need real servers, those of other engines than SQLite or of several replicas. */
export function needingServers(root: string): string[] {
  return filesThatMatch(root, /\/support\/(postgres|valkey|nginx)\.ts'/);
}

/** They measure work, so they run by themselves and never with the counters of a coverage run. */
export const measured = [
  'test/server/patterns.test.ts',
  'test/server/worst-case.test.ts',
  'test/server/held-loop.test.ts',
  'test/server/cassettes/replay-cost.test.ts',
];

/**
 * What a file names that takes something of its process for itself: a module in another's place, its clock, environment or
 * globals, the double of Electron, or a count of what it holds or has done.
 */
const takesProcess = new RegExp(
  [
    String.raw`\bvi\.(mock|doMock|useFakeTimers|setSystemTime|spyOn|stubGlobal|stubEnv|resetModules)\(`,
    String.raw`\bprocess\.(on|once|chdir)\(|\bprocess\.env\.\w+ = |\b(globalThis|performance)\.\w+ = `,
    String.raw`/double/(app|electron|engine-of-pages|system)\.ts'|\b(spoolCounts|memoryInUse|memoryUsage|cpuMsOf|leastWorkOf)\b|/proc/self`,
  ].join('|'),
);

/**
 * The files that need a process of their own. All others share their workers, with what these have loaded: to load the engine,
 * the official clients or Playwright costs more processor time than most files take themselves.
 */
export function ownProcess(root: string): string[] {
  return filesThatMatch(root, takesProcess);
}

const suites: Record<Suite, (root: string) => SuiteRun> = {
  gallery: (root) => ({
    parameters: [gallery, ...filesThatMatch(root, /\bappearances\b.*\/window-suite\.ts'/), '-t', appearance],
    env: { SLUICE_GALLERY: process.env.SLUICE_GALLERY ?? 'pairs' },
  }),
  replicas: (root) => ({
    parameters: needingServers(root).filter((file) => !file.startsWith('test/soak/')),
    needsServers: true,
  }),
  sweeps: (root) => ({ parameters: filesThatMatch(root, /\/support\/sweep\.ts'/), env: { SLUICE_SWEEP: 'all' } }),
  fuzz: () => ({ parameters: ['test/fuzz'] }),
  soak: () => ({
    parameters: ['test/soak', 'test/e2e/restart.test.ts', 'test/server/cli/replicas.test.ts'],
    env: { SLUICE_TEST_KILLS: '20' },
    needsServers: true,
  }),
  coverage: () => ({
    parameters: ['--coverage', ...excluding(measured), 'test/server'],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    needsServers: true,
  }),
};

export function isSuite(name: string): name is Suite {
  return suiteNames.some((each) => each === name);
}

/** Several suites in one run of Vitest, so that their files share the workers; the gallery chooses tests by name, so it runs alone. */
export function runOf(names: readonly Suite[], root: string): SuiteRun {
  const each = names.map((name) => suites[name](root));
  return {
    parameters: each.flatMap(({ parameters }) => parameters),
    env: Object.assign({}, ...each.map(({ env }) => env)),
    needsServers: each.some(({ needsServers }) => needsServers),
  };
}

/** As parameters of Vitest. */
export function excluding(files: readonly string[]): string[] {
  return files.flatMap((file) => ['--exclude', file]);
}

function filesThatMatch(root: string, pattern: RegExp): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    pattern.test(readFileSync(join(root, file), 'utf8')),
  );
  return files.map((file) => file.replaceAll('\\', '/'));
}
