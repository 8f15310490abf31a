import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // Node runs the sources as they are, window and engine alike, and keeps what it compiled: to transform them took a third
    // of the processor time.
    experimental: { viteModuleRunner: false },
    execArgv: [
      ...['--import', pathToFileURL(join(import.meta.dirname, 'test/worker.ts')).href],
      // Room for what a whole test makes, so that less of it is copied before it is garbage: 3 % of the processor time.
      '--max-semi-space-size=64',
    ],
    // Far from what any test needs: how long something may take is for the tests to say, not for a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most tests wait for sockets, processes and pages rather than for a processor; by itself Vitest leaves one idle.
    maxWorkers: Math.max(2, availableParallelism()),
    // A page or process that a busy machine kept waiting gets a second chance there, and the report names it.
    retry: process.env.CI ? 1 : 0,
    // What follows from an act in another process takes its time, on a busy machine the more.
    expect: { poll: { timeout: 30_000 } },
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    coverage: { provider: 'v8', include: ['server/**/*.ts'], reporter: ['text-summary', 'json-summary'] },
  },
});
