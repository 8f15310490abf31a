import { type Command, Option } from 'commander';
import { type UsageDimension, usageDimensions } from '../contract/ledger.ts';
import type { UsageView } from '../contract/request-views.ts';
import type { Control } from './control.ts';
import type { Examples } from './examples.ts';
import { limitCells } from './limit-option.ts';
import { type Output, table } from './output.ts';
import { parsePastTime } from './time-options.ts';
import type { Verbs } from './verb.ts';

interface UsageOptions {
  by: UsageDimension;
  since?: number;
  until?: number;
  limits?: boolean;
}

export const usageExamples: Examples = {
  usage: ['sluice usage --by model --since 30d', 'sluice usage --limits'],
};

export function addUsageVerb(program: Command, { on }: Verbs): void {
  const usage = program
    .command('usage')
    .description('show usage and cost')
    .addOption(new Option('--by <what>', 'one line for each').choices(usageDimensions).default('day'))
    .option('--since <when>', 'a date, or a time span such as 30d', parsePastTime)
    .option('--until <when>', 'the end, exclusive', parsePastTime)
    .option('--limits', 'show the present usage of keys’ and groups’ limits instead');
  on<UsageOptions>(usage, async ({ control, output }, _, { by, since, until, limits }) => {
    if (limits) return showLimits(control, output);
    const rows = await control.query({
      type: 'usage',
      by,
      utcOffsetMinutes: -new Date().getTimezoneOffset(),
      ...(since !== undefined && { sinceMs: since }),
      ...(until !== undefined && { untilMs: until }),
    });
    const head = [by, 'requests', 'errors', 'input', 'output', 'cost'];
    output.show(rows, table(head, rows.map(row), 'There were no requests.'));
  });
}

function row(view: UsageView): string[] {
  const unknown = view.unpricedRequests > 0 ? ` and ${view.unpricedRequests} of unknown cost` : '';
  return [
    view.name ?? '-',
    String(view.requests),
    String(view.errors),
    String(view.inputTokens),
    String(view.outputTokens),
    view.costUsd === null ? 'unknown' : `$${view.costUsd.toFixed(4)}${unknown}`,
  ];
}

async function showLimits(control: Control, output: Output): Promise<void> {
  const [keys, groups] = await Promise.all([control.query({ type: 'keys' }), control.query({ type: 'groups' })]);
  const limited = [
    ...keys.map(({ id, limitUse }) => ({ of: 'key', id, limitUse })),
    ...groups.map(({ id, limitUse }) => ({ of: 'group', id, limitUse })),
  ].filter(({ limitUse }) => limitUse.length > 0);
  const rows = limited.flatMap(({ of, id, limitUse }) => limitUse.map((meter) => [of, id, ...limitCells(meter)]));
  output.show(limited, table(['of', 'id', 'limit', 'used', 'resets'], rows, 'No key or group has limits.'));
}
