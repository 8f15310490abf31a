import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { asciiOnly } from './build/ascii-only.ts';
import { compressedFiles } from './build/compressed-files.ts';
import { joinedFiles } from './build/joined-files.ts';

/** What the engine's bundle takes in place of a module that costs more than the engine uses of it. */
const lighter: Record<string, string> = {
  undici: join(import.meta.dirname, 'build/undici-core.js'),
  'node:http': join(import.meta.dirname, 'build/node-http.js'),
};
const lighterModules: Plugin = {
  name: 'lighter-modules',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'program',
  // A package's `require` of node:http is cheap as it is.
  resolveId: (id, _importer, { kind }) => (kind === 'require-call' ? undefined : lighter[id]),
  // Else Node would have to find out what the files are, by parsing them twice, wherever they are copied to.
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "module" }\n' });
  },
};

/** The tray's icons go beside the program that shows them. */
const trayIcons: Plugin = {
  name: 'tray-icons',
  applyToEnvironment: ({ name }) => name === 'program',
  generateBundle() {
    const folder = join(import.meta.dirname, 'build/icons/tray');
    for (const name of readdirSync(folder)) {
      this.emitFile({ type: 'asset', fileName: `icons/${name}`, source: readFileSync(join(folder, name)) });
    }
  },
};

/** What all that runs in a Node of its own or Electron's has in common: it needs no node_modules beside it. */
const forNode = {
  emitAssets: true,
  copyPublicDir: false,
  target: 'node24',
  minify: false,
  sourcemap: false,
} as const;

/**
 * Three builds from one configuration (`vite build --app`): `dist/window` is the React window; `dist/program` the command line
 * for plain Node (`cli.js`) and the desktop (`main.js`), over the same engine; beside them the desktop's preload, which the
 * sandbox wants as one CommonJS file. Only keytar, a native module that may be missing, stays outside.
 */
export default defineConfig({
  root: 'renderer',
  plugins: [lighterModules, asciiOnly('program'), trayIcons, react(), compressedFiles('client')],
  builder: {},
  environments: {
    client: { build: { outDir: '../dist/window', emptyOutDir: true } },
    program: {
      consumer: 'server',
      resolve: { noExternal: true, external: ['electron', 'keytar'] },
      build: {
        ...forNode,
        outDir: '../dist/program',
        emptyOutDir: true,
        rolldownOptions: {
          input: { cli: 'server/cli.ts', main: 'electron/main.ts', 'keytar-child': 'electron/keytar-child.ts' },
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name]-[hash].js',
            codeSplitting: { groups: [joinedFiles(import.meta.dirname)] },
          },
        },
      },
    },
    preload: {
      consumer: 'server',
      resolve: { noExternal: true, external: ['electron'] },
      build: {
        ...forNode,
        outDir: '../dist/program',
        emptyOutDir: false,
        rolldownOptions: {
          input: { preload: 'electron/preload.ts' },
          output: { format: 'cjs', entryFileNames: '[name].cjs' },
        },
      },
    },
  },
});
