/** Examples for the help of commands, which stand beside their verbs. */
import type { Command } from 'commander';

/** By the path of the command. */
export type Examples = Readonly<Record<string, readonly string[]>>;

/** All commands with their paths, such as `key create`. */
export function commandsBelow(program: Command, parents: readonly string[] = []): { path: string; command: Command }[] {
  return program.commands.flatMap((command) => {
    const path = [...parents, command.name()];
    return [{ path: path.join(' '), command }, ...commandsBelow(command, path)];
  });
}

/** `key create`; empty for the program itself. */
export function pathOf(command: Command): string {
  return command.parent ? [pathOf(command.parent), command.name()].filter(Boolean).join(' ') : '';
}

/** `sluice key create`. */
export function lineOf(command: Command): string {
  return ['sluice', pathOf(command)].filter(Boolean).join(' ');
}

/** By its name or another one that works. */
export function subcommandOf(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}
