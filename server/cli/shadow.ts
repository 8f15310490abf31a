/** `sluice shadow`: the results of the groups' shadow requests, by target. */
import type { Command } from 'commander';
import type { ShadowReport, ShadowSide, ShadowSkip, ShadowSummary } from '../contract/shadow.ts';
import { parsePast } from './moment.ts';
import { table } from './output.ts';
import type { Verbs } from './verb.ts';

interface ShadowOptions {
  group?: string;
  since?: number;
}

export function addShadowVerb(program: Command, { on }: Verbs): void {
  const shadow = program
    .command('shadow')
    .description('compare the answers of groups with those of their shadow targets ("sluice group put --shadow")')
    .option('--group <id>', 'of this group')
    .option('--since <when>', 'from then on: a date, or a time span such as 7d', parsePast);
  on<ShadowOptions>(shadow, async ({ control, output }, _, { group, since }) => {
    const report = await control.query({
      type: 'shadows',
      ...(group !== undefined && { groupId: group }),
      ...(since !== undefined && { sinceMs: since }),
    });
    output.show(report, describeReport(report));
  });
}

const head = ['group', 'target', 'shadows', 'answered', 'equal', 'cost $', 'first byte ms', 'total ms', 'spent $'];

function describeReport({ summaries, skipped }: ShadowReport): string {
  const rows = summaries.map(row);
  const notes = skipped.map(({ groupId, reasons }) => `Not sent for ${groupId} since the start: ${listed(reasons)}.`);
  return [table(head, rows, 'There are no shadow requests.'), ...notes].join('\n');
}

function row({ groupId, provider, model, original, shadow, ...sums }: ShadowSummary): string[] {
  const pair = (side: keyof ShadowSide, decimals = 0) =>
    `${rounded(original[side], decimals)} -> ${rounded(shadow[side], decimals)}`;
  const { requests, answered, compared, equal, costUsd } = sums;
  return [
    groupId,
    `${provider}/${model}`,
    String(requests),
    String(answered),
    compared === 0 ? '-' : `${equal} of ${compared}`,
    pair('costUsd', 6),
    pair('firstByteMs'),
    pair('totalMs'),
    costUsd.toFixed(4),
  ];
}

function rounded(value: number | null, decimals: number): string {
  return value === null ? '-' : String(Number(value.toFixed(decimals)));
}

function listed(reasons: Partial<Record<ShadowSkip, number>>): string {
  return Object.entries(reasons)
    .map(([reason, count]) => `${count} ${skipTexts[reason as ShadowSkip]}`)
    .join(', ');
}

const skipTexts: Record<ShadowSkip, string> = {
  'not-answered': 'without an answer of a provider',
  'side-effects': 'with effects at the provider',
  body: 'longer than 1 MiB, or no JSON',
  'same-target': 'answered by the target itself',
  unavailable: 'while the target could not be used',
  unpriced: 'since the price of the target is not known',
  'daily-limit': 'since the limit of the day did not allow it',
  busy: 'while four others ran',
};
