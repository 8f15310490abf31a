/** Adds examples to the help of commands. They stand beside their verbs. */
import type { Command } from 'commander';

/** By the path of the command. */
export type Examples = Readonly<Record<string, readonly string[]>>;

/** Adds them to the help of the commands below `program`. */
export function addExamples(program: Command, byPath: Examples): void {
  for (const { path, command } of commandsBelow(program)) {
    const lines = byPath[path];
    if (lines) command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  }
}

/** All commands with their paths, such as `key create`. */
export function commandsBelow(program: Command, parents: readonly string[] = []): { path: string; command: Command }[] {
  return program.commands.flatMap((command) => {
    const path = [...parents, command.name()];
    return [{ path: path.join(' '), command }, ...commandsBelow(command, path)];
  });
}
