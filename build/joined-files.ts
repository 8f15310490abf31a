import { join } from 'node:path';
import type { Rolldown } from 'vite';

/**
 * Entry points: the command line, its verbs (of control, and of teams), the engine, the desktop, its threads. Each loads all its
 * imports before it does anything.
 */
const roots = {
  program: ['server/cli/program.ts'],
  control: ['server/cli/remote-control.ts', 'server/team/team-part.ts'],
  engine: ['server/engine/open-engine.ts'],
  desktop: ['electron/main.ts'],
  thread: ['server/exchange/translation/translation-thread.ts'],
};

/**
 * Puts the modules that several entry points share into one file per set of entry points. The bundler alone creates a
 * file for each set of lazily loaded parts that share a module. A start would then open fifty files, which takes a
 * sixth of its time. Modules of a single entry point are left to the bundler, because a lazily loaded part may share
 * them.
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

/** The file name for each shared module. */
function nameFiles(folder: string, importedBy: (id: string) => readonly string[]): Map<string, string> {
  const reachedFrom = new Map<string, string[]>();
  for (const [name, paths] of Object.entries(roots)) {
    const reached = new Set(paths.map((path) => join(folder, path)));
    for (const id of reached) {
      for (const imported of importedBy(id)) reached.add(imported);
      reachedFrom.set(id, [...(reachedFrom.get(id) ?? []), name]);
    }
  }
  const shared = [...reachedFrom].filter(([, names]) => names.length > 1);
  return new Map(shared.map(([id, names]) => [id, names.join('-')]));
}
