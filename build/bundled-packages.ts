/**
 * Determines which packages a build contains, from the bundler itself, because `dependencies` and `devDependencies` do
 * not show it. Nearly all are bundled, and of some that are only a part.
 */
import type { Plugin } from 'vite';

interface BundledPackages {
  /** A plugin for the builds to examine. */
  plugin: Plugin;
  /** As the lock file names them, such as `node_modules/@mantine/core`; in order. */
  paths(): string[];
}

export function bundledPackages(): BundledPackages {
  const found = new Set<string>();
  const plugin: Plugin = {
    name: 'bundled-packages',
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk') continue;
        for (const [id, module] of Object.entries(output.modules)) {
          const path = packagePath(id);
          // Style sheets go into files of their own; of anything else nothing may be left.
          if (path && (module.renderedLength > 0 || /\.css\b/.test(id))) found.add(path);
        }
      }
    },
  };
  return { plugin, paths: () => [...found].sort() };
}

function packagePath(moduleId: string): string | undefined {
  return /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(moduleId)?.[0];
}
