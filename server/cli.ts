#!/usr/bin/env node
/**
 * The entry of the command line: passes on the process's arguments, environment and streams. Only this file and the
 * desktop's entry read `process.env`.
 *
 * It imports only Node's own modules before checking Node's version, so that an old Node can start a newer one.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';

// Otherwise `ps` shows Node's name for its main thread.
process.title = 'sluice';

const oldestNode = 24;
const isBundled = import.meta.filename?.endsWith('.js') ?? true;

if (Number.parseInt(process.versions.node, 10) < oldestNode) await runOnNewerNode();
// Stored beside the program, not in the system's temporary folder, where others could plant code.
if (isBundled) nodeModule.enableCompileCache(join(import.meta.dirname, '../compile-cache'));

/** Runs the program on the Node in node_modules, with the same arguments and streams. Never returns. */
async function runOnNewerNode(): Promise<never> {
  const node = join(
    import.meta.dirname,
    '../../node_modules/node/bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (!existsSync(node)) {
    process.stderr.write(
      `sluice: Sluice needs Node ${oldestNode} or newer, this is ${process.versions.node}. Install it from https://nodejs.org, or run "npm start" in Sluice's folder, which includes it.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [import.meta.filename, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(() => child.on('exit', (code) => process.exit(code ?? 1)));
}

const { runCommandLine } = await import('./cli/program.ts');
const { policyPath } = await import('./config/policy-path.ts');
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
