import type { Command } from 'commander';
import {
  conditionFacts,
  conditionTexts,
  describeCondition,
  type Tone,
  toneOf,
} from '../contract/provider-condition.ts';
import type { ProviderView } from '../contract/provider-views.ts';
import type { Examples } from './help.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { addProviderAddVerbs, describeTest, providerAddExamples, unusableHint } from './provider-add.ts';
import { type Cell, localTime, optional, type Style, styled, table } from './shown.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './terminal.ts';
import type { Verbs } from './verb.ts';
import { mustExist } from './wrong-usage.ts';

export const providerExamples: Examples = {
  'provider list': ['sluice provider list', 'sluice provider list --json'],
  'provider presets': ['sluice provider presets', 'sluice provider presets --json'],
  'provider models': ['sluice provider models openai', 'sluice provider models openai --json'],
  'provider test': ['sluice provider test openai', 'sluice provider test openai --model gpt-5-mini'],
  'provider enable': ['sluice provider enable openai', 'sluice provider enable openai && sluice provider test openai'],
  'provider disable': ['sluice provider disable openai', 'sluice provider disable openai --json'],
  'provider reset': ['sluice provider reset openai', 'sluice provider reset openai second'],
  'provider remove': ['sluice provider remove openai', 'sluice provider remove openai --yes'],
  ...providerAddExamples,
};

export function addProviderVerbs(program: Command, verbs: Verbs): void {
  const provider = program.command('provider').description('manage providers: the services that answer requests');
  addProviderAddVerbs(provider, verbs);
  addLists(provider, verbs);
  addSwitches(provider, verbs);
}

const providerColumns = ['id', 'name', optional('base url'), optional('models'), 'condition', 'problem'];

function addLists(provider: Command, { on }: Verbs): void {
  on(provider.command('list').description('list the providers'), async ({ control, output }) => {
    const providers = await control.query({ type: 'providers' });
    const rows = providers.map((each) => [
      each.id,
      each.name,
      each.baseUrl,
      `${each.modelNames.length}${each.takesAnyModel ? ' and any other' : ''}`,
      conditionCell(each),
      each.enabled ? (each.unusable ?? each.health.reason ?? each.discovery?.problem ?? '') : '',
    ]);
    output.show(providers, table(providerColumns, rows, 'There are no providers.'));
  });

  on(provider.command('presets').description('list the known services'), async ({ control, output }) => {
    const presets = await control.query({ type: 'presets' });
    const rows = presets.map(({ id, name, baseUrl, needsCredential }) => [
      id,
      name,
      baseUrl,
      needsCredential ? 'yes' : 'no',
    ]);
    output.show(presets, table(['preset', 'name', optional('base url'), 'credential'], rows, 'There are no presets.'));
  });

  const models = provider
    .command('models')
    .argument('<id>')
    .description('discover the models of a provider now and list them');
  on(models, async ({ control, output }, [id = '']) => {
    const { provider: view } = await control.execute({ type: 'provider.refresh-models', id });
    const { finding = null, problem = null } = view.discovery ?? {};
    if (finding?.code === 'list-cut') output.note(`Not all models of provider "${id}" are known: ${problem}`);
    else if (problem !== null) throw new CliError(`The models of provider "${id}" cannot be discovered: ${problem}`);
    output.show(view.modelNames, view.modelNames.join('\n') || 'It lists no models.');
  });

  const test = provider
    .command('test')
    .argument('<id>')
    .option('--model <name>', 'call this model (default: one that is known to cost less than a cent for it)')
    .description('connect to a provider, call a model, and report the first step that fails');
  on<{ model?: string }>(test, async ({ control, output }, [id = ''], { model }) => {
    const result = await control.query({ type: 'provider-test', id, ...(model && { model }) });
    output.show(result, describeTest(result));
    if (!result.ok) process.exitCode = exitCodes.failure;
  });
}

function addSwitches(provider: Command, { on }: Verbs): void {
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const command = provider
      .command(verb)
      .argument('<id>')
      .description(`switch a provider ${enabled ? 'on' : 'off'}`);
    on(command, async ({ control, output }, [id = '']) => {
      const result = await control.execute({ type: 'provider.set-enabled', id, enabled });
      output.show(
        result,
        `Provider "${id}" is ${enabled ? 'on' : 'off'}${enabled ? unusableHint(result.provider) : ''}.`,
      );
    });
  }
  const reset = provider
    .command('reset')
    .argument('<id>')
    .argument('[credential]', 'only this credential')
    .description('reset the health of a provider: end its cooldowns and try refused credentials again');
  on(reset, async ({ control, output }, [id = '', credential]) => {
    const result = await control.execute({ type: 'provider.reset-health', id, ...(credential && { credential }) });
    output.show(
      result,
      `The health of ${credential ? `credential "${credential}" of ` : ''}provider "${id}" is reset.`,
    );
  });
  const remove = withConfirmation(
    provider.command('remove').argument('<id>').description('remove a provider with its credentials'),
  );
  on<ConfirmOptions>(remove, async ({ control, output, terminal }, [id = ''], options) => {
    await mustExist('provider', id, control);
    await confirm(`Remove provider "${id}" and its credentials?`, options, terminal);
    output.show(await control.execute({ type: 'provider.remove', id }), `Provider "${id}" is removed.`);
  });
}

/** Examples: `Ready, 120 ms`, `Cooling down until 12:30:05`, `Ready, 1 of 12 models failing: gpt-image-2`. */
function conditionCell(provider: ProviderView): Cell {
  const { until, firstByteMs } = provider.health;
  const facts = conditionFacts(provider, Date.now());
  const { condition } = facts;
  const word = describeCondition(facts, conditionTexts);
  const text = condition === 'cooling' && until !== null ? `${word} until ${localTime(until).slice(-8)}` : word;
  const isUsed = condition === 'ready' || condition === 'degraded';
  return styled(styles[toneOf[condition]], isUsed && firstByteMs !== null ? `${text}, ${firstByteMs} ms` : text);
}

const styles = { good: 'good', warning: 'warning', bad: 'bad', none: 'off' } as const satisfies Record<Tone, Style>;
