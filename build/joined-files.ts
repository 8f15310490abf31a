import { join } from 'node:path';
import type { Rolldown } from 'vite';

/** Each is loaded with all that it imports, before it does anything: the command line, its control verbs, the engine, the desktop. */
const roots = {
  program: 'server/cli/program.ts',
  control: 'server/cli/remote-control.ts',
  engine: 'server/open-engine.ts',
  desktop: 'electron/main.ts',
};

/**
 * Puts the modules that several of these share into one file for each set of them. The bundler alone makes a file for each
 * set of lazily loaded parts that share a module, and a start would look for fifty of them, which takes a sixth of its time.
 * What only one of them needs is left to the bundler, since a lazily loaded part may share it.
 *
 * @param folder of the checkout
 */
export function joinedFiles(folder: string): Rolldown.CodeSplittingGroup {
  let files: Map<string, string> | undefined;
  return {
    debugName: 'joined files',
    includeDependenciesRecursively: false,
    name(id, context) {
      files ??= nameFiles(folder, (each) => context.getModuleInfo(each)?.importedIds ?? []);
      return files.get(id) ?? null;
    },
  };
}

/** The file of each module that is shared. */
function nameFiles(folder: string, importedBy: (id: string) => readonly string[]): Map<string, string> {
  const reachedFrom = new Map<string, string[]>();
  for (const [name, path] of Object.entries(roots)) {
    const reached = new Set([join(folder, path)]);
    for (const id of reached) {
      for (const imported of importedBy(id)) reached.add(imported);
      reachedFrom.set(id, [...(reachedFrom.get(id) ?? []), name]);
    }
  }
  const shared = [...reachedFrom].filter(([, names]) => names.length > 1);
  return new Map(shared.map(([id, names]) => [id, names.join('-')]));
}
