/** Which files of tests belong to which command; `npm test` runs all but those of the others. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const suiteNames = ['gallery', 'sweeps', 'fuzz', 'soak', 'coverage'] as const;
export type Suite = (typeof suiteNames)[number];

/** What a suite gives to Vitest. */
interface SuiteRun {
  parameters: string[];
  env?: Record<string, string>;
}

const gallery = 'test/e2e/gallery.test.ts';
/** How the tests are called that are there once for each appearance. */
const appearance = String.raw`\d+ px, (light|dark), `;
/** Each needs minutes, or says more where nothing else runs beside it. */
export const apart = [gallery, 'test/fuzz/*', 'test/soak/*'];

/** They measure work, so they run by themselves and never with the counters of a coverage run. */
export const measured = ['test/server/patterns.test.ts', 'test/server/worst-case.test.ts'];

/**
 * They hold nothing of the process: no module in another's place, no socket or memory that is counted. So the files of one worker
 * share what they load, which costs more than most of them do.
 */
export const units = [
  'test/renderer',
  ...['contract', 'control', 'limits', 'routing', 'usage', 'wire'].map((folder) => `test/server/${folder}`),
];

const suites: Record<Suite, (root: string) => SuiteRun> = {
  gallery: (root) => ({
    parameters: [gallery, ...filesThatImport(root, /\bappearances\b.*\/window-suite\.ts'/), '-t', appearance],
    env: { SLUICE_GALLERY: process.env.SLUICE_GALLERY ?? 'pairs' },
  }),
  sweeps: (root) => ({ parameters: filesThatImport(root, /\/support\/sweep\.ts'/), env: { SLUICE_SWEEP: 'all' } }),
  fuzz: () => ({ parameters: ['test/fuzz'] }),
  soak: () => ({ parameters: ['test/soak', 'test/e2e/restart.test.ts'], env: { SLUICE_TEST_KILLS: '12' } }),
  coverage: () => ({ parameters: ['--coverage', ...excluding(measured), 'test/server'] }),
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
  };
}

/** As parameters of Vitest. */
export function excluding(files: readonly string[]): string[] {
  return files.flatMap((file) => ['--exclude', file]);
}

function filesThatImport(root: string, pattern: RegExp): string[] {
  return globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    pattern.test(readFileSync(join(root, file), 'utf8')),
  );
}
