import { type Command, Option } from 'commander';
import type { RouteCandidate, RouteView, WireWay } from '../contract/access-views.ts';
import type { LossNote } from '../contract/loss-codes.ts';
import { type ConversationWire, conversationWires } from '../contract/operations.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { exitCodes } from './programs/exit-codes.ts';
import { usualGroup } from './role.ts';
import { number, type Shown, styled, type Table, table } from './shown.ts';
import type { Verbs } from './verb.ts';
import { mustExist } from './wrong-usage.ts';

interface WhoseOptions {
  key?: string;
  group?: string;
}

export const routeExamples: Examples = {
  'model list': ['sluice model list', 'sluice model list --key my-editor'],
  'route explain': ['sluice route explain --model fast', 'sluice route explain --key my-editor --model gpt-5'],
};

export function addRouteVerbs(program: Command, { on }: Verbs): void {
  const model = program.command('model').description('list models');
  const list = model
    .command('list')
    .description('list the models of a group or key (default: the group "default")')
    .option('--group <id>')
    .option('--key <id>');
  on<WhoseOptions>(list, async ({ control, output }, _, options) => {
    if (options.key) await mustExist('key', options.key, control);
    const models = await control.query({ type: 'models', ...(await groupOrKey(options, control)) });
    const rows = models.map(({ id, providers }) => [id, providers.join(', ')]);
    output.show(models, table(['model', 'providers'], rows, 'There are no models.'));
  });

  const route = program.command('route').description('explain routing');
  const explain = route
    .command('explain')
    .description('show the providers that a request would go to, in order, and why others are left out')
    .requiredOption('--model <name>', 'the model name that a client sends')
    .addOption(new Option('--api <wire>', 'only for clients of this API').choices(conversationWires))
    .option('--key <id>')
    .option('--group <id>');
  on<WhoseOptions & { model: string; api?: ConversationWire }>(explain, async ({ control, output }, _, options) => {
    if (options.key) await mustExist('key', options.key, control);
    const view = await control.query({ type: 'route', model: options.model, ...(await groupOrKey(options, control)) });
    output.show(view, [describe(view), ...describeWires(view, options.api)]);
    if (view.refusal) process.exitCode = exitCodes.failure;
  });
}

async function groupOrKey({ key, group }: WhoseOptions, control: Control): Promise<WhoseOptions> {
  if (!key && !group) return { group: await usualGroup(control) };
  return { ...(key && { key }), ...(group && { group }) };
}

function describe({ model, group, strategy, refusal, candidates }: RouteView): Shown {
  const subject = `"${model}" for group "${group}"`;
  const strategyNote = strategy === 'priority' ? '' : ` by ${strategy}`;
  const head = refusal
    ? styled('bad', `${subject} is refused (${refusal.code}): ${refusal.message}`)
    : `${subject} goes${strategyNote}, in this order, to:`;
  const chosen = candidates.filter((candidate) => candidate.isTaken);
  const others = candidates.filter((candidate) => !candidate.isTaken);
  const lines: Shown[] = [head, ...(chosen.length > 0 ? [candidateTable(chosen)] : [])];
  if (others.length > 0)
    lines.push('', 'Left out:', ...others.map(({ provider, reason }) => `  ${provider}: ${reason}`));
  return lines;
}

function candidateTable(chosen: readonly RouteCandidate[]): Table {
  const rows = chosen.map(({ provider, model, priority, weight, reason, place }) => [
    provider,
    model ?? '',
    String(priority ?? ''),
    String(weight ?? ''),
    place === null ? reason : `${reason}; ${place}`,
  ]);
  return table(['provider', 'model', number('priority'), number('weight'), 'why'], rows, '');
}

/** Formats how clients of each API, or of one API, are served. */
function describeWires({ candidates }: RouteView, only: ConversationWire | undefined): string[] {
  const lines = candidates
    .filter(({ isTaken }) => isTaken)
    .flatMap(({ provider, model, wires }) => {
      const matching = wires.filter(({ client }) => only === undefined || client === only);
      return matching.length === 0 ? [] : [`  ${provider} ${model ?? ''}`.trimEnd(), ...matching.flatMap(describeWay)];
    });
  if (lines.length === 0) return [];
  const end =
    'Losses in messages depend on their content; the response headers x-sluice-dropped and x-sluice-emulated list them.';
  return ['', 'By client API:', ...lines, ...(lines.some((line) => line.includes('->')) ? [end] : [])];
}

function describeWay({ client, upstream, dropped, emulated }: WireWay): string[] {
  if (client === upstream) return [`    ${client}: unchanged`];
  return [
    `    ${client} -> ${upstream}: translated`,
    ...(dropped.length > 0 ? [`      dropped: ${fieldsOf(dropped)}`] : []),
    ...(emulated.length > 0 ? [`      emulated: ${fieldsOf(emulated)}`] : []),
  ];
}

function fieldsOf(notes: readonly LossNote[]): string {
  return notes.map(({ field }) => field).join(', ');
}
