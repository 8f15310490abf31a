import { type Command, InvalidArgumentError } from 'commander';
import type { AliasConfig } from '../contract/config.ts';
import type { Examples } from './help.ts';
import { number, table } from './shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './terminal.ts';
import type { Verbs } from './verb.ts';
import { mustExist } from './wrong-usage.ts';

type Target = AliasConfig['targets'][number];

export const aliasExamples: Examples = {
  'alias list': ['sluice alias list', 'sluice alias list --json'],
  'alias put': [
    'sluice alias put fast --target groq/openai/gpt-oss-120b --target openai/gpt-5-mini,priority=1',
    'sluice alias put fast --key my-editor --target openai/gpt-5',
    'sluice alias put mixed --target openai/gpt-5-mini,weight=3 --target groq/openai/gpt-oss-120b,weight=1',
  ],
  'alias remove': ['sluice alias remove fast', 'sluice alias remove fast --key my-editor --yes'],
};

export function addAliasVerbs(program: Command, { on }: Verbs): void {
  const alias = program.command('alias').description('manage aliases: your own model names for one or more targets');

  on(alias.command('list').description('list the aliases'), async ({ control, output }) => {
    const aliases = await control.query({ type: 'aliases' });
    output.show(aliases, aliasTable(aliases, 'There are no aliases.'));
  });

  const put = alias
    .command('put')
    .argument('<name>', 'the model name that clients send')
    .description('add an alias, or replace the one with that name')
    .requiredOption(
      '--target <provider/model[,priority=0][,weight=1][,context=128000]>',
      'a target; may be repeated. Lower priority is asked first, weight is the share among equals, context the size of its context window in tokens',
      collectTarget,
    )
    .option('--key <id>', keyHelp);
  on<{ target: Target[]; key?: string }>(put, async ({ control, output }, [name = ''], { target, key }) => {
    const alias = { name, targets: target };
    const result = await control.execute({ type: 'alias.put', alias, ...(key !== undefined && { key }) });
    output.show(result, `Alias "${name}"${ofKey(key)} is stored.`);
  });

  const remove = withConfirmation(
    alias.command('remove').argument('<name>').description('remove an alias').option('--key <id>', keyHelp),
  );
  on<ConfirmOptions & { key?: string }>(remove, async ({ control, output, terminal }, [name = ''], options) => {
    const { key } = options;
    await (key === undefined ? mustExist('alias', name, control) : mustExist('key', key, control));
    await confirm(`Remove alias "${name}"${ofKey(key)}?`, options, terminal);
    const result = await control.execute({ type: 'alias.remove', name, ...(key !== undefined && { key }) });
    output.show(result, `Alias "${name}"${ofKey(key)} is removed.`);
  });
}

const keyHelp = 'the alias of this key alone, in place of the one for all';
const ofKey = (key: string | undefined) => (key === undefined ? '' : ` of key "${key}"`);

export function aliasTable(aliases: readonly AliasConfig[], ifNone: string) {
  const rows = aliases.flatMap(({ name, targets }) =>
    targets.map(({ provider, model, priority, weight }) => [
      name,
      `${provider}/${model}`,
      String(priority),
      String(weight),
    ]),
  );
  return table(['alias', 'target', number('priority'), number('weight')], rows, ifNone);
}

function collectTarget(text: string, before: Target[] = []): Target[] {
  const [, provider, model, rest = ''] = /^([^/]+)\/(.+?)((?:,(?:priority|weight|context)=[^,]*)*)$/.exec(text) ?? [];
  // A model's name may contain commas, but nothing that looks like one of the options.
  if (!provider || !model || /,(?:priority|weight|context)=/.test(model)) {
    throw new InvalidArgumentError('Use provider/model, optionally with ,priority=1 ,weight=2 ,context=128000.');
  }
  const { priority = 0, weight = 1, context = 0 } = numbersIn(rest);
  const target = { provider, model, priority, weight };
  return [...before, context > 0 ? { ...target, contextTokens: context } : target];
}

/** The values of `,priority=1,weight=0.5,context=128000`, any of which may be absent. */
function numbersIn(text: string): Partial<Record<string, number>> {
  const pairs = text.split(',').slice(1);
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      const isWhole = name !== 'weight';
      if ((isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(value)) return [name, Number(value)];
      throw new InvalidArgumentError(`"${name}" must be a ${isWhole ? 'whole number' : 'number'}, not "${value}".`);
    }),
  );
}
