import { type Command, Option } from 'commander';
import type { QueryInputMap } from '../contract/queries.ts';
import type { UsageView } from '../contract/views.ts';
import { parsePast } from './moment.ts';
import { table } from './output.ts';
import type { Verbs } from './verb.ts';

interface UsageOptions {
  by: QueryInputMap['usage']['by'];
  since?: number;
  until?: number;
}

export function addUsageVerb(program: Command, { on }: Verbs): void {
  const usage = program
    .command('usage')
    .description('what was used and what it cost')
    .addOption(
      new Option('--by <what>', 'a line for each').choices(['day', 'key', 'group', 'model', 'provider']).default('day'),
    )
    .option('--since <when>', 'a date, or a span such as 30d', parsePast)
    .option('--until <when>', 'the same; what is from then on does not count', parsePast);
  on<UsageOptions>(usage, async ({ control, output }, _, { by, since, until }) => {
    const rows = await control.query({
      type: 'usage',
      by,
      utcOffsetMinutes: -new Date().getTimezoneOffset(),
      ...(since !== undefined && { sinceMs: since }),
      ...(until !== undefined && { untilMs: until }),
    });
    const head = [by, 'requests', 'errors', 'input', 'output', 'cost'];
    // What nobody knows the price of has not cost nothing.
    const told = rows.map((view) => ({ ...view, costUsd: isCostUnknown(view) ? null : view.costUsd }));
    output.show(told, table(head, rows.map(row), 'There were no requests.'));
  });
}

const isCostUnknown = (view: UsageView) => view.costUsd === 0 && view.unpricedRequests > 0;

function row(view: UsageView): string[] {
  const unknown = view.unpricedRequests > 0 ? ` and ${view.unpricedRequests} of unknown cost` : '';
  return [
    view.name ?? '-',
    String(view.requests),
    String(view.errors),
    String(view.inputTokens),
    String(view.outputTokens),
    isCostUnknown(view) ? 'unknown' : `$${view.costUsd.toFixed(4)}${unknown}`,
  ];
}
