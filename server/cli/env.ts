/** `sluice env` and `sluice terminal`: the variables by which programs find Sluice, as commands of a shell or in a terminal. */
import { type Command, Option } from 'commander';
import { openTerminal } from '../connect/open-terminal.ts';
import { type ToolEnvironment, toolEnvironment, withTool } from '../connect/tool-environment.ts';
import type { KeyView } from '../contract/access-views.ts';
import { originOf } from '../contract/address.ts';
import { controlError } from '../contract/control-error.ts';
import { quoted, type Shell, shells } from '../contract/shell-words.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { VerbContext, Verbs } from './verb.ts';

interface TerminalOptions {
  key?: string;
  model?: string;
}

interface EnvOptions extends TerminalOptions {
  shell: Shell;
}

export const envExamples: Examples = {
  env: [
    'eval "$(sluice env)"                       # sh, bash, zsh',
    'sluice env --shell fish | source',
    'sluice env --shell powershell | Out-String | Invoke-Expression',
  ],
  terminal: ['sluice terminal', 'sluice terminal --key mine --model groq/openai/gpt-oss-120b'],
};

export function addEnvVerb(program: Command, { on }: Verbs): void {
  const env = program
    .command('env')
    .description('print the environment variables that make programs use Sluice, with a key')
    .option('--key <id>', 'the key (default: the first one whose secret is kept)')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .addOption(shellOption());
  on<EnvOptions>(env, async (context, _, { shell, ...choice }) => {
    const { id, tool } = await chosenEnvironment(context, choice);
    context.output.show(Object.fromEntries(tool), shellLines(tool, shell));
    if (choice.key === undefined) context.output.note(`With key "${id}"; another with --key.`);
  });
  const terminal = program
    .command('terminal')
    .description('open a terminal window in which programs use Sluice, with a key in its environment')
    .option('--key <id>', 'the key (default: the first one whose secret is kept)')
    .option('--model <name>', 'the model, for programs that take it from their environment');
  on<TerminalOptions>(terminal, async (context, _, choice) => {
    const { id, tool } = await chosenEnvironment(context, choice);
    await openTerminal({
      platform: process.platform,
      env: withTool(context.terminal.env, tool),
      folder: process.cwd(),
    });
    context.output.show(
      { key: id },
      `A terminal is open. Programs that are started in it use Sluice with key "${id}".`,
    );
  });
}

async function chosenEnvironment(
  { control, terminal: { env } }: VerbContext,
  { key: keyId, model }: TerminalOptions,
): Promise<{ id: string; tool: ToolEnvironment }> {
  const id = keyId ?? (await chooseKey(control, undefined)).id;
  const { secret } = await control.execute({ type: 'key.reveal', id });
  return { id, tool: toolEnvironment({ origin: await clientOrigin(control), key: secret, model }, env) };
}

function shellOption(): Option {
  const defaultShell: Shell = process.platform === 'win32' ? 'powershell' : 'sh';
  return new Option('--shell <name>', 'the shell that will read it; sh also for bash and zsh')
    .choices(shells)
    .default(defaultShell);
}

/** The origin to give to programs: the public address if there is one. */
export async function clientOrigin(control: Control): Promise<string> {
  return originOf(await control.query({ type: 'status' }));
}

/** The key with this id; without an id, the first usable key that can be shown again. Rejects with a CliError. */
export async function chooseKey(control: Control, id: string | undefined): Promise<KeyView> {
  const keys = await control.query({ type: 'keys' });
  const key = keys.find((each) => (id === undefined ? isUsual(each) : each.id === id));
  if (key) return key;
  if (id !== undefined) throw controlError('not_found', { code: 'no-key', id }, 'key');
  throw new CliError(
    'There is no key that can be shown again. Make one with "sluice key create", or name one with --key.',
  );
}

function isUsual({ enabled, canReveal, expiresAt }: KeyView): boolean {
  return enabled && canReveal && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}

/** The group's default model for chat, or the only model if there is just one. Rejects with a CliError. */
export async function chooseModel(control: Control, key: KeyView): Promise<string> {
  const groups = await control.query({ type: 'groups' });
  const defaultModel = groups.find(({ id }) => id === key.group)?.defaults.chat;
  if (defaultModel !== undefined) return defaultModel;
  const models = await control.query({ type: 'models', key: key.id });
  const [only, ...others] = models;
  if (only && others.length === 0) return only.id;
  const sampleIds = models.slice(0, 5).map(({ id }) => id);
  const examples = sampleIds.length > 0 ? `, such as ${sampleIds.join(', ')}` : '';
  throw new CliError(`Name the model with --model${examples}.`, exitCodes.usage);
}

/** Shell commands that set and unset the variables, one per line. */
export function shellLines(tool: ToolEnvironment, shell: Shell): string {
  return [...tool]
    .map(([name, value]) => (value === undefined ? unset[shell](name) : setLine(name, value, shell)))
    .join('\n');
}

function setLine(name: string, value: string, shell: Shell): string {
  const word = quoted(value, shell);
  if (word === null)
    throw new CliError(
      `${name} holds characters that cannot be written for ${shell}; use another shell, or "sluice run".`,
    );
  return set[shell](name, word);
}

const set: Record<Shell, (name: string, word: string) => string> = {
  sh: (name, word) => `export ${name}=${word}`,
  fish: (name, word) => `set -gx ${name} ${word}`,
  powershell: (name, word) => `$env:${name} = ${word}`,
  cmd: (name, word) => `set "${name}=${word}"`,
};

const unset: Record<Shell, (name: string) => string> = {
  sh: (name) => `unset ${name}`,
  fish: (name) => `set -e ${name}`,
  powershell: (name) => `Remove-Item Env:${name} -ErrorAction SilentlyContinue`,
  cmd: (name) => `set "${name}="`,
};
