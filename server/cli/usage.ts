import { type Command, Option } from 'commander';
import { localZone, wholeQuarters } from '../contract/calendar.ts';
import { namelessUsage, type UsageDimension, usageColumns, usageDimensions } from '../contract/ledger.ts';
import { forecastMonth, monthSoFar } from '../contract/limits.ts';
import type { UsageView } from '../contract/request-views.ts';
import type { Control } from './control.ts';
import type { Examples } from './help.ts';
import { limitCells, limitColumns } from './limit-option.ts';
import { money, showCurrency, sumText } from './money.ts';
import type { Output } from './output.ts';
import { type Cell, localTime, number, optional, styled, table } from './shown.ts';
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
    await showCurrency(control);
    if (limits) return showLimits(control, output);
    const range = wholeQuarters({
      ...(since !== undefined && { sinceMs: since }),
      ...(until !== undefined && { untilMs: until }),
    });
    const rows = await control.query({
      type: 'usage',
      by,
      zone: localZone(),
      ...range,
    });
    noteRounding(output, { sinceMs: since, untilMs: until }, range);
    const { requests, failed, refused, tokens, cost } = usageColumns;
    const columns = [by, number(requests), number(failed), optional(number(refused)), number(tokens), number(cost)];
    const cells = rows.map((view) => row(view, by));
    output.show(rows, table(columns, cells, 'There were no requests.'));
    await noteMonth(control, output);
  });
}

/** Says which time is counted, if it is not the one that was asked for. */
function noteRounding(
  output: Output,
  asked: { sinceMs: number | undefined; untilMs: number | undefined },
  { sinceMs, untilMs }: { sinceMs?: number; untilMs?: number },
): void {
  const parts = [
    sinceMs !== undefined && sinceMs !== asked.sinceMs && `from ${localTime(sinceMs)}`,
    untilMs !== undefined && untilMs !== asked.untilMs && `to ${localTime(untilMs)}`,
  ].filter((part) => part !== false);
  if (parts.length > 0) output.note(`Usage is kept by quarters of an hour; this is counted ${parts.join(' ')}.`);
}

/** What this month has cost, and comes to. */
async function noteMonth(control: Control, output: Output): Promise<void> {
  const nowMs = Date.now();
  const days = await control.query({ type: 'usage', by: 'day', ...monthSoFar(nowMs), zone: localZone() });
  const forecast = forecastMonth(days, nowMs);
  if (forecast === null) return;
  const { costUsd, expectedUsd } = forecast;
  // As exact as the table above it, where cents say nothing.
  const inWords = (usd: number) => money(usd, usd < 1 ? 4 : 2);
  const end = expectedUsd === null ? '' : `; at this pace ${inWords(expectedUsd)} by its end`;
  output.note(`This month: ${inWords(costUsd)}${end}.`);
}

function row(view: UsageView, by: UsageDimension): Cell[] {
  const { name, requests, failed, refused, inputTokens, outputTokens } = view;
  return [
    name ?? (by === 'day' ? '-' : namelessUsage[by]),
    String(requests),
    failed > 0 ? styled('error', String(failed)) : String(failed),
    String(refused),
    String(inputTokens + outputTokens),
    sumText(view),
  ];
}

async function showLimits(control: Control, output: Output): Promise<void> {
  const [keys, groups] = await Promise.all([control.query({ type: 'keys' }), control.query({ type: 'groups' })]);
  const limited = [
    ...keys.map(({ id, limitUse }) => ({ of: 'key', id, limitUse })),
    ...groups.map(({ id, limitUse }) => ({ of: 'group', id, limitUse })),
  ].filter(({ limitUse }) => limitUse.length > 0);
  const rows = limited.flatMap(({ of, id, limitUse }) => limitUse.map((meter) => [of, id, ...limitCells(meter)]));
  output.show(limited, table(['of', 'id', ...limitColumns], rows, 'No key or group has limits.'));
}
