import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** Keeps the parts of undici that the engine does not use out of its bundle. */
const undiciCore: Plugin = {
  name: 'undici-core',
  enforce: 'pre',
  applyToEnvironment: (environment) => environment.name === 'server',
  resolveId: (id) => (id === 'undici' ? join(import.meta.dirname, 'build/undici-core.js') : undefined),
};

/**
 * Two builds from one configuration (`vite build --app`): `dist/window` is the React window, `dist/server` the engine,
 * bundled so that it runs on plain Node without node_modules beside it. Only keytar, a native module that may be
 * missing, stays outside.
 */
export default defineConfig({
  root: 'renderer',
  plugins: [undiciCore, react()],
  builder: {},
  environments: {
    client: { build: { outDir: '../dist/window', emptyOutDir: true } },
    server: {
      consumer: 'server',
      resolve: { noExternal: true, external: ['keytar'] },
      build: {
        outDir: '../dist/server',
        emptyOutDir: true,
        copyPublicDir: false,
        target: 'node24',
        minify: false,
        sourcemap: false,
        rolldownOptions: {
          input: { cli: 'server/cli.ts' },
          output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
        },
      },
    },
  },
  test: {
    root: import.meta.dirname,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    include: ['test/**/*.test.ts'],
    coverage: { provider: 'v8', include: ['server/**/*.ts'], reporter: ['text-summary', 'json-summary'] },
  },
});
