/** Loaded into each worker of a test run before any test. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import './electron/double/in-place.ts';

// The engine and the official clients are compiled once, and not by each worker and each file with a process of its own.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/sluice-tests'));
