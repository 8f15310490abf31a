import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBuilder } from 'vite';

export interface Bundle {
  /** The program, in a folder without node_modules beside or above it. */
  program: string;
  remove(): void;
}

/** Builds the engine as it is released, into a folder of its own. */
export async function buildBundle(): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  const outDir = join(folder, 'server');
  const builder = await createBuilder({
    configFile: join(import.meta.dirname, '../../../vite.config.ts'),
    logLevel: 'error',
    environments: { server: { build: { outDir } } },
  });
  const { server } = builder.environments;
  if (!server) throw new Error('vite.config.ts has no environment "server"');
  await builder.build(server);
  return { program: join(outDir, 'cli.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
