/** The form of all help: five groups of commands with a line each, and the same sections for each command. */
import { styleText } from 'node:util';
import { type AddHelpTextContext, type Command, type Help, Option } from 'commander';
import { colorChoices, lookOf, type Terminal, type TerminalOutput } from './terminal.ts';
import { writeStyled } from './visible-output.ts';

/** The commands of the program, in the order of its help, each in the words of one line. */
const groups: Record<string, Record<string, string>> = {
  'Run the gateway:': {
    serve: 'run the gateway until it is stopped',
    status: 'show whether it is running and what it serves',
    stop: 'stop it when its requests have ended',
    service: 'run it from login on',
    window: 'print or open an address of the window',
    settings: 'show and change settings',
    demo: 'switch the built-in demo provider',
    doctor: 'find what is wrong',
    completion: 'print a script that completes commands in a shell',
  },
  'Use it in programs:': {
    connect: 'set up a client, such as codex or claude-code',
    run: 'start a program that uses the gateway',
    env: 'print the variables that programs use',
    terminal: 'open a terminal whose programs use the gateway',
    key: 'manage the keys of local clients',
  },
  'Choose providers and models:': {
    provider: 'manage providers: the services that answer',
    model: 'list models',
    alias: 'manage your own names for models',
    group: 'manage groups: what their keys may use',
    route: 'explain where a request would go',
  },
  'See and test requests:': {
    log: 'show, follow and export requests',
    session: 'list, show, export, stop and resume sessions',
    usage: 'show usage, cost and limits',
    capture: 'keep headers and bodies of requests',
    compare: 'send a captured request to several models',
    cache: 'show and clear the caches of answers',
    record: 'start a program and record its requests',
    replay: 'start a program and answer it from a recording',
    cassette: 'manage recordings in use, and export them',
    faults: 'let programs meet errors and broken streams',
  },
  'Share a configuration, work in a team:': {
    export: 'write the configuration to a file',
    import: 'replace the configuration by that of a file',
    apply: 'set what a file declares',
    preset: 'show and apply team presets',
    login: 'sign in to a team gateway',
    logout: 'sign out of it',
    join: 'sign in to a team gateway, and use it as provider',
    leave: 'undo "join"',
    people: 'list people of a team gateway, sign them out',
    token: 'manage API tokens for pipelines',
    audit: 'show who has changed what',
    migrate: 'copy a data folder into a PostgreSQL database',
    passphrase: 'change the passphrase of stored secrets',
  },
};

/** Lines of text do not become longer in a wide terminal. */
const mostColumns = 100;

/** The form of the help, which commands take over that are added to the program later. */
export function shapeHelp(program: Command, terminal: Terminal): Command {
  const widthOf = (stream: TerminalOutput) => Math.min(lookOf(stream, terminal).width ?? 80, mostColumns);
  const write = (stream: TerminalOutput, text: string) =>
    lookOf(stream, terminal).hasColor ? writeStyled(stream, text) : void stream.write(text);
  return program
    .addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common options:'))
    .helpCommand(false)
    .configureHelp({
      minWidthToWrap: 24,
      styleTitle: title,
      commandUsage: (command) => `${lineOf(command)} ${command.usage()}`,
      subcommandTerm: (command) => command.name(),
      styleSubcommandTerm: (text) => styleText('cyan', text, always),
      styleOptionTerm: (text) => styleText('cyan', text, always),
      styleArgumentTerm: (text) => styleText('cyan', text, always),
    })
    .configureOutput({
      writeOut: (text) => write(terminal.stdout, text),
      writeErr: (text) => write(terminal.stderr, text),
      // Errors are printed with those of the commands themselves.
      outputError: () => {},
      getOutHelpWidth: () => widthOf(terminal.stdout),
      getErrHelpWidth: () => widthOf(terminal.stderr),
      getOutHasColors: () => lookOf(terminal.stdout, terminal).hasColor,
      getErrHasColors: () => lookOf(terminal.stderr, terminal).hasColor,
    });
}

/** Commander takes the colours out where there should be none. */
const always = { validateStream: false };
const title = (text: string) => styleText('bold', text, always);

const commonOptions = new Set(['--data-dir', '--gateway', '--json', '--color']);

/** Groups, common options and examples, once all commands have been added. */
export function completeHelp(program: Command, terminal: Terminal, examples: Examples): void {
  const places = Object.entries(groups).flatMap(([heading, lines]) =>
    Object.entries(lines).map(([name, summary]) => ({ name, heading, summary })),
  );
  for (const command of program.commands) {
    const place = places.find(({ name }) => name === command.name());
    if (place) command.helpGroup(place.heading).summary(place.summary);
  }
  const order = places.map(({ name }) => name);
  const rank = (command: Command) => order.indexOf(command.name());
  program.configureHelp({
    ...program.configureHelp(),
    visibleCommands: ({ commands }) =>
      commands.filter((command) => rank(command) >= 0).toSorted((one, other) => rank(one) - rank(other)),
  });
  for (const { path, command } of [{ path: '', command: program }, ...commandsBelow(program)]) {
    const color = new Option('--color <when>', 'whether to use colours').choices(colorChoices);
    command.addOption(color);
    command.on('option:color', (choice) => {
      terminal.color = colorChoices.find((each) => each === choice);
    });
    for (const option of command.options) {
      if (commonOptions.has(option.long ?? '')) option.helpGroup('Common options:');
    }
    const lines = examples[path];
    if (lines) command.addHelpText('after', notes(['Examples:', ...lines.map((line) => `  ${line}`)].join('\n')));
  }
}

/**
 * Sections after the help of a command. Paragraphs are wrapped; of indented lines, only `name  meaning` is, and a line that
 * ends with a colon before them is their title.
 */
export function notes(text: string): (context: AddHelpTextContext) => string {
  return ({ error, command }) => {
    const { getErrHelpWidth, getOutHelpWidth } = command.configureOutput();
    const helpWidth = (error ? getErrHelpWidth?.() : getOutHelpWidth?.()) ?? mostColumns;
    const help = Object.assign(command.createHelp(), { helpWidth });
    const sections = text.trim().split('\n\n');
    return ['', ...sections.map((section) => wrapped(section, help))].join('\n\n').slice(1);
  };
}

function wrapped(section: string, help: Help & { helpWidth: number }): string {
  const lines = section.split('\n');
  const [first = '', ...rest] = lines;
  if (lines.every((line) => !line.startsWith(' '))) return help.boxWrap(lines.join(' '), help.helpWidth);
  const body = (first.startsWith(' ') ? lines : rest).map((line) => {
    const [, term, meaning] = /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line) ?? [];
    if (term === undefined || meaning === undefined || meaning.startsWith('#')) return line;
    return help.formatItem(term, line.length - meaning.length - 4, meaning, help);
  });
  return (first.startsWith(' ') ? body : [title(first), ...body]).join('\n');
}

// Examples for the help of commands, which stand beside their verbs.

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
