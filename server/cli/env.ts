/** `sluice env`: prints shell commands that set the variables by which programs find Sluice. */
import { type Command, Option } from 'commander';
import type { KeyView } from '../contract/access-views.ts';
import { originOf } from '../contract/address.ts';
import { controlError } from '../contract/control-error.ts';
import { type Shell, shells } from '../contract/shell-words.ts';
import type { Control } from './control.ts';
import type { Examples } from './examples.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { shellLines, toolEnvironment } from './programs/tool-environment.ts';
import type { Verbs } from './verb.ts';

interface EnvOptions {
  key?: string;
  model?: string;
  shell: Shell;
}

export const envExamples: Examples = {
  env: [
    'eval "$(sluice env)"                       # sh, bash, zsh',
    'sluice env --shell fish | source',
    'sluice env --shell powershell | Out-String | Invoke-Expression',
  ],
};

export function addEnvVerb(program: Command, { on }: Verbs): void {
  const env = program
    .command('env')
    .description('print the environment variables that make programs use Sluice, with a key')
    .option('--key <id>', 'the key (default: the first one whose secret is kept)')
    .option('--model <name>', 'the model, for programs that take it from their environment')
    .addOption(shellOption());
  on<EnvOptions>(env, async ({ control, output, terminal }, _, { key: keyId, model, shell }) => {
    const id = keyId ?? (await chooseKey(control, undefined)).id;
    const { secret } = await control.execute({ type: 'key.reveal', id });
    const tool = toolEnvironment({ origin: await clientOrigin(control), key: secret, model }, terminal.env);
    output.show(Object.fromEntries(tool), shellLines(tool, shell));
    if (keyId === undefined) output.note(`With key "${id}"; another with --key.`);
  });
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
