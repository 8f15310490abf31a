#!/usr/bin/env node
/**
 * The entry of the command line: passes on the process's arguments, environment and streams. Only this file and the
 * desktop's entry read `process.env`.
 *
 * The npm package starts it by `build/sluice.cjs`, which checks Node's version first.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Otherwise `ps` shows Node's name for its main thread.
process.title = 'sluice';

const isBundled = import.meta.filename.endsWith('.js');
// Stored beside the program, where only those can write who can change the program itself; not in the system's temporary
// folder, where others could plant code. Where the program's folder is read-only, there is no cache.
if (isBundled) enableCompileCache(join(import.meta.dirname, '../compile-cache'));
hideSqliteWarning();

/** Node 22 says at each start that its SQLite is experimental, which users can do nothing about. */
function hideSqliteWarning(): void {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return;
    for (const print of printers) print(warning);
  });
}

const { runCommandLine } = await import('./cli/program.ts');
const { policyPath } = await import('./config/managed-preset.ts');
const { optionalParts } = await import('./optional-parts.ts');
const terminal = {
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  teamPresets: {
    policy: policyPath(process.platform, process.env),
    // Created by `npm run dist -- --preset`.
    builtIn: isBundled ? join(import.meta.dirname, '../team-preset.json') : undefined,
  },
  windowFolders: ['../window', '../dist/window'].map((folder) => join(import.meta.dirname, folder)),
  loadTeam: optionalParts.team,
};
await runCommandLine(terminal, optionalParts.team);
