/** Loaded into each worker of a test run before any test. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { switchFastPaths } from '../server/ground/fast-paths.ts';
import './electron/double/in-place.ts';

// Caches the compiled engine and official clients, so that not every worker, and every file with its own process,
// compiles them again.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/sluice-tests'));

// `SLUICE_FAST_PATHS=off npx vitest run …` tests the plain paths.
switchFastPaths(process.env.SLUICE_FAST_PATHS !== 'off');
