import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Takes the folder; all else is as `vite build` does it. */
const buildInto = `
  const { build } = await import('vite');
  await build({ logLevel: 'error', environments: { client: { build: { outDir: process.argv[1] } } } });
`;

/** Builds the window as it is shipped, into a new temporary folder, and returns the folder. */
export async function buildWindow(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-window-'));
  // Not in this process: Vitest rewrites the code of Vite that loads screens on demand.
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', buildInto, folder], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, NODE_ENV: 'production' },
  });
  return folder;
}
