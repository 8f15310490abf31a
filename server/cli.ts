#!/usr/bin/env node
/**
 * The program without a desktop: hands the process's arguments, environment and streams to the command line. Besides the
 * desktop's entry the only one that reads `process.env`; everything further in is given what it needs.
 *
 * Nothing but Node's own modules is imported before the check here, so that an old Node can hand over to a newer one.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';

// In place of the name of Node's own thread, which is what the system would show for it.
process.title = 'sluice';

const oldestNode = 24;
const isBundled = import.meta.filename?.endsWith('.js') ?? true;

if (Number.parseInt(process.versions.node, 10) < oldestNode) await runOnNewerNode();
// Beside the program, not in the system's folder for temporary files, where others could put code into it.
if (isBundled) nodeModule.enableCompileCache(join(import.meta.dirname, '../compile-cache'));

/** The Node that npm has put beside the program takes over, with the same arguments and streams; never returns. */
async function runOnNewerNode(): Promise<never> {
  const node = join(
    import.meta.dirname,
    '../../node_modules/node/bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (!existsSync(node)) {
    process.stderr.write(
      `sluice: this is Node ${process.versions.node}, and Sluice needs Node ${oldestNode} or newer. Install it from https://nodejs.org, or start Sluice with "npm start" in its folder, which brings its own.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [import.meta.filename, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(() => child.on('exit', (code) => process.exit(code ?? 1)));
}

const { runCommandLine } = await import('./cli/program.ts');
const { policyPath } = await import('./config/policy-path.ts');
await runCommandLine({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  teamPresets: {
    policy: policyPath(process.platform, process.env),
    // Put there by `npm run dist -- --preset`; the sources have none.
    builtIn: isBundled ? join(import.meta.dirname, '../team-preset.json') : undefined,
  },
  windowFolders: ['../window', '../dist/window'].map((folder) => join(import.meta.dirname, folder)),
});
