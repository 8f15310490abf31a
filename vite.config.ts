import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** What the engine's bundle takes in place of a module that costs more than the engine uses of it. */
const lighter: Record<string, string> = {
  undici: join(import.meta.dirname, 'build/undici-core.js'),
  'node:http': join(import.meta.dirname, 'build/node-http.js'),
};
const lighterModules: Plugin = {
  name: 'lighter-modules',
  enforce: 'pre',
  applyToEnvironment: (environment) => environment.name === 'server',
  // A package's `require` of node:http is cheap as it is.
  resolveId: (id, _importer, { kind }) => (kind === 'require-call' ? undefined : lighter[id]),
  // Else Node would have to find out what the files are, by parsing them twice, wherever they are copied to.
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "module" }\n' });
  },
};

/**
 * Two builds from one configuration (`vite build --app`): `dist/window` is the React window, `dist/server` the engine,
 * bundled so that it runs on plain Node without node_modules beside it. Only keytar, a native module that may be
 * missing, stays outside.
 */
export default defineConfig({
  root: 'renderer',
  plugins: [lighterModules, react()],
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
        emitAssets: true,
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
