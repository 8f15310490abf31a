#!/usr/bin/env node
/**
 * The program without a desktop: hands the process's arguments, environment and streams to the command line. Besides the
 * desktop's entry the only one that reads `process.env`; everything further in is given what it needs.
 *
 * Nothing but Node's own modules is imported before the checks here, so that an old Node can still say what it lacks.
 */
import nodeModule from 'node:module';
import { join } from 'node:path';

const oldestNode = 24;
const isBundled = import.meta.filename?.endsWith('.js') ?? true;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(
    `sluice: this is Node ${process.versions.node}, and Sluice needs Node ${oldestNode} or newer. Install it from https://nodejs.org, or start Sluice with "npm start" in its folder, which brings its own.\n`,
  );
  process.exit(1);
}
// Beside the program, not in the system's folder for temporary files, where others could put code into it.
if (isBundled) nodeModule.enableCompileCache(join(import.meta.dirname, '../compile-cache'));

const { runCommandLine } = await import('./cli/program.ts');
await runCommandLine({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  windowFolders: ['../window', '../dist/window'].map((folder) => join(import.meta.dirname, folder)),
});
