/** A day as text: exports, and the command line. */
import { localZone } from '../../../server/contract/calendar.ts';
import { namelessUsage } from '../../../server/contract/ledger.ts';
import type { RequestView, UsageView } from '../../../server/contract/request-views.ts';
import { acquireInstanceLock } from '../../../server/data-folder/instance-lock.ts';
import { runVerb } from '../cli/run-cli.ts';
import { type Day, type Differences, dimensions, sumsOf, verdictBy } from './compare-ledger.ts';

const usageColumns = {
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  cached_input_tokens: 'cachedInputTokens',
  cache_write_tokens: 'cacheWriteTokens',
  reasoning_tokens: 'reasoningTokens',
  seconds: 'seconds',
  characters: 'characters',
  images: 'images',
} as const;

export async function compareExports(differences: Differences, { sluice, rows }: Day): Promise<void> {
  const csv = await textOf(sluice.gateway.exportRequests('csv', {}));
  compareCsv(differences, 'CSV', { text: csv, rows });
  const lines = (await textOf(sluice.gateway.exportRequests('jsonl', {}))).trim().split('\n');
  compareJsonLines(differences, 'JSON lines', { lines, rows });
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

function compareCsv(
  differences: Differences,
  place: string,
  { text, rows }: { text: string; rows: readonly RequestView[] },
): void {
  const [head = [], ...lines] = text.trimEnd().split('\r\n').map(fieldsOf);
  differences.expect(`${place}, rows`, lines.length, rows.length);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const line of lines) {
    const fields = Object.fromEntries(line.map((field, at) => [head[at] ?? '', field]));
    const row = byId.get(fields.id ?? '');
    const shown = (value: string | number | null | undefined) => String(value ?? '');
    for (const [column, name] of Object.entries(usageColumns))
      differences.expect(`${place}, ${column} of ${fields.id}`, fields[column], shown(row?.usage?.[name]));
    differences.expect(`${place}, cost of ${fields.id}`, fields.cost_usd, shown(row?.costUsd));
    for (const [column, value] of [
      ['key', row?.keyId],
      ['model_served', row?.modelServed],
      ['provider', row?.provider],
      ['outcome', row?.outcome],
      ['verdict', row && verdictBy(row)],
      ['attempts', row?.attempts.length],
    ] as const)
      differences.expect(`${place}, ${column} of ${fields.id}`, fields[column], shown(value));
  }
}

const fieldsOf = (line: string) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );

function compareJsonLines(
  differences: Differences,
  place: string,
  { lines, rows }: { lines: readonly string[]; rows: readonly RequestView[] },
): void {
  differences.expect(`${place}, rows`, lines.length, rows.length);
  const byId = new Map(rows.map(({ seq: _, ...row }) => [row.id, { ...row, verdict: verdictBy(row) }]));
  for (const line of lines) {
    const { seq: _, ...row } = JSON.parse(line) as RequestView;
    differences.expect(`${place}, ${row.id}`, JSON.stringify(row), JSON.stringify(byId.get(row.id)));
  }
}

/** The command line asks the running gateway. */
export async function compareCommandLine(differences: Differences, day: Day): Promise<void> {
  const { sluice, rows, folder } = day;
  const lock = await acquireInstanceLock(folder);
  if ('holder' in lock) throw new Error('The data folder of a test has a holder.');
  const { hostname: host, port } = new URL(sluice.origin);
  await lock.update({ host, port: Number(port), instanceId: sluice.gateway.instanceId });
  const say = async (...line: string[]) => {
    const { code, stdout, stderr } = await runVerb([...line, '--data-dir', folder]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  try {
    for (const by of dimensions) {
      const told = JSON.parse(await say('usage', '--by', by, '--json')) as UsageView[];
      const counted = sumsOf(rows, localZone())[by];
      differences.expectNamed(`sluice usage --by ${by}`, told, counted);
      const table = (await say('usage', '--by', by)).trimEnd().split('\n').slice(1);
      differences.expect(`lines of sluice usage --by ${by}`, table.length, counted.size);
      for (const line of table) compareLine(differences, by, { line, day });
    }
    const logged = (await say('log', '--json', '--limit', '1000')).trimEnd().split('\n');
    compareJsonLines(differences, 'sluice log', { lines: logged, rows });
    compareCsv(differences, 'sluice log --export csv', { text: await say('log', '--export', 'csv'), rows });
    const table = (await say('log', '--limit', '1000')).trimEnd().split('\n').slice(1);
    for (const [at, line] of table.entries()) compareLogged(differences, line, rows.at(-1 - at));
    differences.expect('lines of sluice log', table.length, rows.length);
  } finally {
    await lock.release();
  }
}

const cellsOf = (line: string) => line.trim().split(/ {2,}/);

function compareLine(
  differences: Differences,
  by: (typeof dimensions)[number],
  { line, day: { rows } }: { line: string; day: Day },
): void {
  const [name = '', requests, failed, refused, tokens, cost] = cellsOf(line);
  const sums = sumsOf(rows, localZone())[by].get(by !== 'day' && name === namelessUsage[by] ? '' : name);
  const { inputTokens = 0, outputTokens = 0, costUsd = 0, unpricedRequests = 0 } = sums ?? {};
  const shown = [
    ...[sums?.requests, sums?.failed, sums?.refused, inputTokens + outputTokens].map(String),
    costUsd === 0 && unpricedRequests > 0
      ? 'unknown'
      : `$${costUsd.toFixed(4)}${unpricedRequests > 0 ? ` and ${unpricedRequests} of unknown cost` : ''}`,
  ];
  differences.expect(
    `the table of sluice usage --by ${by}, ${name}`,
    [requests, failed, refused, tokens, cost].join(' '),
    shown.join(' '),
  );
}

function compareLogged(differences: Differences, line: string, row: RequestView | undefined): void {
  if (!row) return;
  const { usage, costUsd, usageCertainty } = row;
  const about = usageCertainty === 'estimated' || usageCertainty === 'reserved' ? '~' : '';
  const isUnknown = usage?.inputTokens === undefined && usage?.outputTokens === undefined;
  const tokens = isUnknown ? '-' : `${about}${usage?.inputTokens ?? '?'} + ${usage?.outputTokens ?? '?'}`;
  const isNothing = row.outcome === null || (costUsd === 0 && usage === null);
  const cost = isNothing ? '-' : costUsd === null ? 'unknown' : `${about}$${costUsd.toFixed(5)}`;
  differences.expect(`sluice log, ${row.id}`, cellsOf(line).slice(7, 9).join(' '), `${tokens} ${cost}`);
  const verdict = verdictBy(row);
  const status = `${row.status ?? '-'}${verdict === 'ok' ? '' : ` ${verdict}`}`;
  differences.expect(`the status in sluice log, ${row.id}`, cellsOf(line)[1], status);
}
