/** `sluice env`: prints shell commands that set the variables by which programs find Sluice. */
import { type Command, Option } from 'commander';
import { originOf } from '../contract/address.ts';
import { type Shell, shells } from '../contract/shell-words.ts';
import { chooseKey } from './choose-connection.ts';
import type { Control } from './control.ts';
import type { Examples } from './examples.ts';
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
