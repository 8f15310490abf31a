/** Shell completion: computes candidates from the commands, and contains the scripts by which shells request them. */
import { Argument, type Command, type Option } from 'commander';
import type { Examples } from './examples.ts';
import type { Terminal } from './terminal.ts';

interface Candidate {
  value: string;
  description: string;
}

/**
 * The candidates for the last word.
 *
 * @param words without the program's name; the last one is incomplete and may be empty
 */
function candidates(program: Command, words: readonly string[]): Candidate[] {
  const typed = words.at(-1) ?? '';
  const { command, option, isPastOptions } = locate(program, words.slice(0, -1));
  const offered = isPastOptions ? [] : (valuesOf(option) ?? next(command, typed));
  return offered.filter(({ value }) => value.startsWith(typed));
}

interface Position {
  command: Command;
  /** The option whose value comes next. */
  option?: Option | undefined;
  /** Whether the word comes after `--`. */
  isPastOptions: boolean;
}

function locate(program: Command, words: readonly string[]): Position {
  let position: Position = { command: program, isPastOptions: false };
  for (const word of words) {
    if (word === '--') return { ...position, isPastOptions: true };
    const { command } = position;
    const isValue = position.option !== undefined;
    const option = isValue ? undefined : command.options.find(({ long, short }) => word === long || word === short);
    const subcommand = isValue ? undefined : command.commands.find((each) => each.name() === word);
    position = { command: subcommand ?? command, option: option?.required ? option : undefined, isPastOptions: false };
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

export function addCompletion(program: Command, { stdout }: Terminal): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell that will read it').choices(completedShells))
    .description('print a script that completes commands and options in a shell')
    .action((shell: CompletedShell) => void stdout.write(scripts[shell]));
  program.command('complete [words...]', { hidden: true }).action((words: string[]) => {
    const lines = candidates(program, words).map(({ value, description }) => `${value}\t${description}\n`);
    stdout.write(lines.join(''));
  });
}
