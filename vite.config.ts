import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { asciiOnly } from './build/ascii-only.ts';
import { bundledPackages } from './build/bundled-packages.ts';
import { compressedFiles } from './build/compressed-files.ts';
import { joinedFiles } from './build/joined-files.ts';
import { makeNotices } from './build/notices.ts';
import { makeSbom } from './build/sbom.ts';
import manifest from './package.json' with { type: 'json' };

/** What the engine's bundle takes in place of a module that costs more than the engine uses of it. */
const lighter: Record<string, string> = {
  undici: join(import.meta.dirname, 'build/undici-core.js'),
  'node:http': join(import.meta.dirname, 'build/node-http.js'),
};

/** The same for what a package requires. */
const lighterRequired: Record<string, string> = {
  'iconv-lite': join(import.meta.dirname, 'build/iconv-lite.js'),
};
const lighterModules: Plugin = {
  name: 'lighter-modules',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'program',
  // A package's `require` of node:http is cheap as it is.
  resolveId: (id, _importer, { kind }) => (kind === 'require-call' ? lighterRequired : lighter)[id],
};

/** The command of the npm package, and what it has to know of package.json. */
const command: Plugin = {
  name: 'command',
  applyToEnvironment: ({ name }) => name === 'program',
  generateBundle() {
    const source = readFileSync(join(import.meta.dirname, 'build/sluice.cjs'));
    this.emitFile({ type: 'asset', fileName: 'sluice.cjs', source });
    // Without the type, Node would have to find out what the files are, by parsing them twice, wherever they are copied to.
    const { engines } = manifest;
    this.emitFile({ type: 'asset', fileName: 'package.json', source: JSON.stringify({ type: 'module', engines }) });
  },
};

/** The oldest Node that Sluice runs on, such as `22.1`. */
const oldestNode = /\d+\.\d+/.exec(manifest.engines.node)?.[0] ?? '';

/** Beside the bundle: what it contains, for `npm audit` and its like, which see only what is installed beside a package. */
const { plugin: packageLists } = bundledPackages((paths) => {
  const root = import.meta.dirname;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sbom = makeSbom({ ...lock, name: manifest.name }, paths);
  writeFileSync(join(root, 'dist/sluice.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  writeFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), makeNotices(root, paths));
});

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
  target: `node${oldestNode}`,
  minify: false,
  sourcemap: false,
} as const;

/**
 * Four builds from one configuration (`vite build --app`): `dist/window` is the React window, and beside it the page of the panel, which
 * shares no file with it, so that each loads what it needs and no more; `dist/program` the command line
 * for plain Node (`cli.js`) and the desktop (`main.js`), over the same engine, which starts `translation-thread.js`; beside them the desktop's preload, which the
 * sandbox wants as one CommonJS file. Only the libraries of the keychain, native modules that may be missing, stay outside.
 */
export default defineConfig({
  root: 'renderer',
  plugins: [
    lighterModules,
    command,
    asciiOnly('program'),
    trayIcons,
    react(),
    compressedFiles('client', 'panel'),
    packageLists,
  ],
  builder: {},
  environments: {
    client: { build: { outDir: '../dist/window', emptyOutDir: true } },
    panel: {
      consumer: 'client',
      build: {
        outDir: '../dist/window',
        emptyOutDir: false,
        copyPublicDir: false,
        rolldownOptions: { input: 'renderer/panel.html' },
      },
    },
    program: {
      consumer: 'server',
      resolve: { noExternal: true, external: ['electron', 'keytar', '@napi-rs/keyring'] },
      build: {
        ...forNode,
        outDir: '../dist/program',
        emptyOutDir: true,
        rolldownOptions: {
          input: {
            cli: 'server/cli.ts',
            main: 'electron/main.ts',
            'keychain-helper': 'electron/keychain-helper.ts',
            'translation-thread': 'server/exchange/translation/translation-thread.ts',
          },
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name]-[hash].js',
            // JSDoc would be a sixth of the source text, which V8 keeps in memory; what a licence asks for stays.
            comments: { jsdoc: false, annotation: false },
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
