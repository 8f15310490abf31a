/** Shell completion: computes candidates from the commands, and contains the scripts by which shells request them. */
import { Argument, type Command, type Option } from 'commander';
import { readEnvironment } from '../engine/environment.ts';
import { type Examples, pathOf, subcommandOf } from './help.ts';
import { openRunning } from './open-control.ts';
import type { Terminal } from './terminal.ts';
import { idsFor } from './wrong-usage.ts';

interface Candidate {
  value: string;
  description: string;
}

/**
 * The candidates for the last word.
 *
 * @param words without the program's name; the last one is incomplete and may be empty
 */
async function candidates(program: Command, words: readonly string[], idsOf: IdsOf): Promise<Candidate[]> {
  const typed = words.at(-1) ?? '';
  const position = locate(program, words.slice(0, -1));
  const { command, option, isPastOptions } = position;
  if (isPastOptions) return [];
  const kind = typed.startsWith('-') ? undefined : kindAt(position);
  const ids = kind === undefined ? [] : await idsOf(kind);
  const others = valuesOf(option) ?? next(command, typed);
  return [...ids.map((value) => ({ value, description: '' })), ...others].filter(({ value }) =>
    value.startsWith(typed),
  );
}

type IdKind =
  | 'provider'
  | 'key'
  | 'group'
  | 'alias'
  | 'preset'
  | 'session'
  | 'model'
  | 'client'
  | 'setting'
  | 'profile';
type IdsOf = (kind: IdKind) => Promise<readonly string[]>;

const kindsOfOptions: Record<string, IdKind> = {
  '--key': 'key',
  '--group': 'group',
  '--provider': 'provider',
  '--passthrough': 'provider',
  '--model': 'model',
};

/** By the path of the command, or by its first word: the ids that its arguments are. */
const kindsOfArguments: Record<string, readonly IdKind[]> = {
  'provider add': ['preset'],
  'key create': [],
  'key move': ['key', 'group'],
  'faults show': ['profile'],
  provider: ['provider'],
  key: ['key'],
  group: ['group'],
  alias: ['alias'],
  session: ['session'],
  connect: ['client'],
  settings: ['setting'],
};

function kindAt({ command, option, arguments: before }: Position): IdKind | undefined {
  if (option) return kindsOfOptions[option.long ?? ''];
  if (command.commands.length > 0) return undefined;
  const path = pathOf(command);
  const kinds = kindsOfArguments[path] ?? kindsOfArguments[path.split(' ')[0] ?? ''];
  return command.registeredArguments.length > before ? kinds?.[before] : undefined;
}

/** Only a running Sluice is asked: to open an engine takes longer than a shell should wait. */
function createIdsOf({ env }: Terminal, words: readonly string[]): IdsOf {
  return async (kind) => {
    if (kind === 'client')
      return (await import('../contract/clients/client-guides.ts')).clientGuides.map(({ id }) => id);
    if (kind === 'setting') return (await import('../contract/settings-table.ts')).settingPaths;
    if (kind === 'profile') return (await import('../contract/faults.ts')).faultProfileNames;
    const { dataDir } = readEnvironment(env);
    const control = await openRunning(words[words.indexOf('--data-dir') + 1 || words.length] ?? dataDir);
    if (!control) return [];
    if (kind === 'model') return (await control.query({ type: 'models', group: 'default' })).map(({ id }) => id);
    if (kind === 'session') return (await control.query({ type: 'sessions' })).sessions.map(({ id }) => id);
    return idsFor(kind, control);
  };
}

interface Position {
  command: Command;
  /** The option whose value comes next. */
  option?: Option | undefined;
  /** Whether the word comes after `--`. */
  isPastOptions: boolean;
  /** The number of arguments before it. */
  arguments: number;
}

function locate(program: Command, words: readonly string[]): Position {
  let position: Position = { command: program, isPastOptions: false, arguments: 0 };
  for (const word of words) {
    if (word === '--') return { ...position, isPastOptions: true };
    const { command } = position;
    const isValue = position.option !== undefined;
    const option = isValue ? undefined : command.options.find(({ long, short }) => word === long || word === short);
    const subcommand = isValue ? undefined : subcommandOf(command, word);
    const isArgument = !isValue && !option && !subcommand && !word.startsWith('-');
    position = {
      command: subcommand ?? command,
      option: option?.required ? option : undefined,
      isPastOptions: false,
      arguments: subcommand ? 0 : position.arguments + (isArgument ? 1 : 0),
    };
  }
  return position;
}

/** Undefined if the next word is not an option's value. With an empty list, the shell completes file names. */
function valuesOf(option: Option | undefined): Candidate[] | undefined {
  return option && (option.argChoices ?? []).map((value) => ({ value, description: '' }));
}

function next(command: Command, typed: string): Candidate[] {
  const help = command.createHelp();
  if (typed.startsWith('-')) {
    return help.visibleOptions(command).map(({ long, short, description }) => ({
      value: long ?? short ?? '',
      description,
    }));
  }
  const commands = help.visibleCommands(command).map((each) => ({
    value: each.name(),
    description: each.description(),
  }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((value) => ({ value, description: '' })),
  );
  return [...commands, ...choices];
}

const completedShells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type CompletedShell = (typeof completedShells)[number];

/** Each calls `sluice complete WORDS…`, which prints one candidate per line, followed by a tab and its description. */
const scripts: Record<CompletedShell, string> = {
  bash: `_sluice() {
  local IFS=$'\\n'
  COMPREPLY=($(sluice complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _sluice sluice
`,
  zsh: `#compdef sluice
_sluice() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(sluice complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe sluice found; else _files; fi
}
compdef _sluice sluice
`,
  fish: `complete -c sluice -a '(sluice complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName sluice -ScriptBlock {
  param($word, $line, $position)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  sluice complete -- @words 2>$null | ForEach-Object {
    $value, $description = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', "$value $description")
  }
}
`,
};

export const completionExamples: Examples = {
  completion: [
    'source <(sluice completion bash)           # in ~/.bashrc',
    'source <(sluice completion zsh)            # in ~/.zshrc, after compinit',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish',
    'sluice completion powershell | Out-String | Invoke-Expression   # in $PROFILE',
  ],
};

export function addCompletion(program: Command, terminal: Terminal): void {
  const { stdout } = terminal;
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that will read it').choices(completedShells))
    .description('print a script that completes commands and options in a shell')
    .action((shell: CompletedShell) => void stdout.write(scripts[shell]));
  program.command('complete [words...]', { hidden: true }).action(async (words: string[]) => {
    const found = await candidates(program, words, createIdsOf(terminal, words));
    stdout.write(found.map(({ value, description }) => `${value}\t${description}\n`).join(''));
  });
}
