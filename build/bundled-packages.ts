/**
 * Lists the packages whose code is in a build. The bundler reports them, because `dependencies` and `devDependencies`
 * do not show it: nearly all packages are bundled, and some only in part.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

interface BundledPackages {
  /** Must be added to the builds in question. */
  plugin: Plugin;
  /** Paths as in the lock file, such as `node_modules/@mantine/core`, sorted. */
  paths(): string[];
}

/** @param onBuilt called after each of the builds with the packages that were found so far */
export function bundledPackages(onBuilt: (paths: readonly string[]) => void = () => {}): BundledPackages {
  const found = new Set<string>();
  const paths = () => [...found].sort();
  const addPackageOf = (file: string) => {
    const path = packagePath(file);
    if (path) found.add(path);
  };
  const plugin: Plugin = {
    name: 'bundled-packages',
    // One list for all builds of a configuration.
    sharedDuringBuild: true,
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type === 'asset') {
          // Typefaces.
          for (const file of output.originalFileNames) addPackageOf(file);
          continue;
        }
        for (const [id, module] of Object.entries(output.modules)) {
          // Style sheets go into separate files. Other modules count only if something of them is left in the bundle.
          if (module.renderedLength > 0 || /\.css\b/.test(id)) addPackageOf(id);
        }
      }
    },
    writeBundle: () => onBuilt(paths()),
  };
  return { plugin, paths };
}

function packagePath(moduleId: string): string | undefined {
  return /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(moduleId)?.[0];
}

/** Native modules, which electron-builder copies; each only if npm could install it here, being optional. */
const nativeModules = /^node_modules\/(keytar|@napi-rs\/keyring(-[\w-]+)?)$/;

/**
 * Packages that go into a release unchanged instead of being bundled.
 *
 * @param lockedPaths of all packages in the lock file
 */
export function packagesBesideBundle(root: string, lockedPaths: readonly string[]): string[] {
  const isInstalled = (path: string) => existsSync(join(root, path, 'package.json'));
  return ['node_modules/electron', ...lockedPaths.filter((path) => nativeModules.test(path) && isInstalled(path))];
}
