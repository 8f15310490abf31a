/** Assigns test files to commands. `npm test` runs all files except those of the other commands. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const suiteNames = ['gallery', 'replicas', 'long', 'sweeps', 'fuzz', 'soak', 'coverage'] as const;
/** The suites of `.ci/run`. Coverage is a report of tests that run in the others too. */
export const checkedSuites = suiteNames.filter((name) => name !== 'coverage');
export type Suite = (typeof suiteNames)[number];

/** Parameters for Vitest. */
interface SuiteRun {
  parameters: string[];
  env?: Record<string, string>;
  /** Some of its tests need a real PostgreSQL, Valkey or nginx. */
  needsServers?: boolean;
}

const gallery = 'test/e2e/gallery.test.ts';
/** Pattern for the titles of tests that run once per appearance. */
const appearance = String.raw`\d+ px, (light|dark), `;

/**
 * The files that `npm test` leaves out. They need servers or minutes, or are more meaningful if nothing else runs at
 * the same time.
 */
export function apart(root: string): string[] {
  return [gallery, ...markedAs('long', root), 'test/fuzz/*', 'test/soak/*', ...needingServers(root)];
}

/** The files whose tests need real servers: those for stores other than SQLite or for several replicas. */
export function needingServers(root: string): string[] {
  return filesThatMatch(root, /\/support\/(postgres|valkey|nginx)\.ts'/);
}

/** These tests measure work, so they run separately and never with the counters of a coverage run. */
export function measured(root: string): string[] {
  return markedAs('measured', root);
}

/**
 * Matches files that take over part of their process: mocked modules, the clock, environment or globals, the double of
 * Electron, or measurements of the process itself.
 */
const takesProcess = new RegExp(
  [
    String.raw`\bvi\.(mock|doMock|useFakeTimers|setSystemTime|spyOn|stubGlobal|stubEnv|resetModules)\(`,
    String.raw`\bprocess\.(on|once|chdir)\(|\bprocess\.env\.\w+ = |\b(globalThis|performance)\.\w+ = `,
    String.raw`/double/(app|electron|engine-of-pages|system)\.ts'|\b(spoolCounts|memoryInUse|memoryUsage|cpuMsOf|leastWorkOf)\b|/proc/self`,
  ].join('|'),
);

/**
 * The files that need their own process. All others share workers and the modules loaded there, because loading the
 * engine, the official clients or Playwright takes more processor time than most files themselves.
 */
export function ownProcess(root: string): string[] {
  return filesThatMatch(root, takesProcess);
}

const suites: Record<Suite, (root: string) => SuiteRun> = {
  gallery: (root) => ({
    parameters: [gallery, ...filesThatMatch(root, /appearances[^;]*\/window-suite\.ts'/i), '-t', appearance],
    env: { SLUICE_GALLERY: process.env.SLUICE_GALLERY ?? 'pairs' },
  }),
  replicas: (root) => ({
    parameters: needingServers(root).filter((file) => !file.startsWith('test/soak/')),
    needsServers: true,
  }),
  long: (root) => ({ parameters: markedAs('long', root) }),
  sweeps: (root) => ({ parameters: filesThatMatch(root, /\/support\/sweep\.ts'/), env: { SLUICE_SWEEP: 'all' } }),
  fuzz: () => ({ parameters: ['test/fuzz'] }),
  soak: () => ({
    parameters: ['test/soak', 'test/e2e/restart.test.ts', 'test/server/cli/replicas.test.ts'],
    env: { SLUICE_TEST_KILLS: '20' },
    needsServers: true,
  }),
  coverage: (root) => ({
    parameters: ['--coverage', ...excluding(measured(root)), 'test/server'],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    needsServers: true,
  }),
};

export function isSuite(name: string): name is Suite {
  return suiteNames.some((each) => each === name);
}

/**
 * Combines several suites into one run of Vitest, so that their files share the workers. The gallery selects tests by
 * name, so it runs alone.
 */
export function runOf(names: readonly Suite[], root: string): SuiteRun {
  const each = names.map((name) => suites[name](root));
  return {
    parameters: each.flatMap(({ parameters }) => parameters),
    env: Object.assign({}, ...each.map(({ env }) => env)),
    needsServers: each.some(({ needsServers }) => needsServers),
  };
}

/** As parameters for Vitest. */
export function excluding(files: readonly string[]): string[] {
  return files.flatMap((file) => ['--exclude', file]);
}

/**
 * The files whose first comment has the tag `@suite` with this name. `long`: half a minute or more, because they pack the
 * program, fill disks, start programs, pages or desktops one after another, or need hundreds of keys or connections.
 */
function markedAs(name: string, root: string): string[] {
  return filesThatMatch(root, new RegExp(String.raw`^/\*\*(?:(?!\*/)[^])*@suite ${name}\b`));
}

function filesThatMatch(root: string, pattern: RegExp): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    pattern.test(readFileSync(join(root, file), 'utf8')),
  );
  return files.map((file) => file.replaceAll('\\', '/'));
}
