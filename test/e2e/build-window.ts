import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { vi } from 'vitest';

/** Builds the window as it is shipped, into a new temporary folder, and returns the folder. */
export async function buildWindow(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-window-'));
  // Vitest's own value would make it a development build of React.
  vi.stubEnv('NODE_ENV', 'production');
  try {
    await build({
      configFile: join(import.meta.dirname, '../../vite.config.ts'),
      root: join(import.meta.dirname, '../../renderer'),
      logLevel: 'error',
      environments: { client: { build: { outDir: folder } } },
    });
  } finally {
    vi.unstubAllEnvs();
  }
  return folder;
}
