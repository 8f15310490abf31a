/** Imports of `electron` in this process resolve to the double. */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const double = pathToFileURL(join(import.meta.dirname, 'electron.ts')).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: double, shortCircuit: true, format: 'module-typescript' }
      : next(specifier, context),
});
