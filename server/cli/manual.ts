/** Generates the manual page sluice(1) from the commands and their help. */
import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

export function addManual(program: Command, { stdout }: Terminal): void {
  program
    .command('manual')
    .description('print the manual page, for man(1)')
    .action(() => void stdout.write(manualPage(program)));
}

/** Uses the macros of man(7). */
export function manualPage(program: Command): string {
  const { commands } = program;
  return [
    `.TH SLUICE 1 "" "Sluice ${program.version() ?? ''}" "User Commands"`,
    '.SH NAME',
    String.raw`sluice \- one local address for AI tools and providers`,
    '.SH SYNOPSIS',
    '.B sluice',
    String.raw`.I command \fR[\fIoptions\fR]`,
    '.SH DESCRIPTION',
    escaped(program.description()),
    '.SH COMMANDS',
    ...commands.flatMap((command) => describe(command, [])),
    '.SH ENVIRONMENT AND EXIT STATUS',
    ...additions(program),
    '',
  ].join('\n');
}

/** A command, its options and the rest of its help, followed by its subcommands. */
function describe(command: Command, parents: readonly string[]): string[] {
  const help = command.createHelp();
  if (command.name() === 'complete') return [];
  const path = [...parents, command.name()];
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  return [
    `.SS "${escaped(['sluice', ...path].join(' '))} ${escaped(command.usage())}"`,
    escaped(command.description()),
    ...options.flatMap((option) => ['.TP', `.B ${escaped(option.flags)}`, escaped(help.optionDescription(option))]),
    ...additions(command),
    ...subcommands.flatMap((each) => describe(each, path)),
  ];
}

/** The help text after the options, with its layout. */
function additions(command: Command): string[] {
  const lines: string[] = [];
  command.configureOutput({ writeOut: (text) => void lines.push(text) });
  command.outputHelp();
  const text = lines
    .join('')
    .split(/^Options:\n(?:.+\n)*/m)[1]
    ?.replace(/^\s*Commands:\n(?:.+\n)*/m, '')
    .trim();
  return text ? ['.PP', '.nf', escaped(text), '.fi'] : [];
}

/**
 * A leading dot or quote would start a macro, a plain hyphen would become a typographic one, and not every groff
 * accepts input other than ASCII.
 */
function escaped(text: string): string {
  return text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replace(/^(?=[.'])/gm, String.raw`\&`)
    .replace(/[^\n\x20-\x7e]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    });
}
