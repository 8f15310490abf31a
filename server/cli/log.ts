import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EventMessage } from '../contract/events.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import type { RequestView } from '../contract/request-views.ts';
import { type ExportFormat, exportRequests } from '../ledger/export.ts';
import type { RequestFilter } from '../ledger/queries.ts';
import type { Control } from './control.ts';
import { describeRequest } from './describe-request.ts';
import { parsePast } from './moment.ts';
import { localTime, type Output, table } from './output.ts';
import { describeRefusal, recentRefusals } from './refusals.ts';
import type { Verbs } from './verb.ts';

interface LogOptions {
  follow?: boolean;
  limit: number;
  export?: ExportFormat;
  since?: number;
  until?: number;
}

type LoggedRequest = RequestView | RequestRecord;

const head = ['time', 'status', 'ms', 'route', 'model', 'provider', 'key', 'tokens', 'cost'];

export function addLogVerb(program: Command, { on }: Verbs): void {
  const log = program
    .command('log')
    .description('show the latest requests; with --json, one on each line; with an id, all details of that request')
    .argument('[id]', 'the id of a request, as in its x-sluice-request-id')
    .option('--limit <number>', 'the number of requests', parseLimit, 20)
    .option('--follow', 'keep printing new requests')
    .addOption(new Option('--export <format>', 'export all requests with all fields').choices(['csv', 'jsonl']))
    .option('--since <when>', 'beginning of an export: a date, or a time span such as 30d', parsePast)
    .option('--until <when>', 'end of an export, exclusive', parsePast);
  on<LogOptions>(log, async ({ control, output, terminal }, [id], { follow, limit, export: format, since, until }) => {
    if (id !== undefined) {
      const { request } = await control.query({ type: 'request', id });
      output.show(request, describeRequest(request));
      return;
    }
    if (format) {
      const times = { ...(since !== undefined && { sinceMs: since }), ...(until !== undefined && { untilMs: until }) };
      for await (const piece of exportAll(control, format, times)) terminal.stdout.write(piece);
      return;
    }
    // Opened before the list is queried, so that no request is lost in between.
    const events = follow ? await control.openEvents() : undefined;
    const { requests } = await control.query({ type: 'requests', limit });
    const shown = requests.toReversed().filter((request) => !follow || request.outcome !== null);
    if (output.isJson) for (const request of shown) output.showOne(request, '');
    else {
      const refusals = await recentRefusals(control);
      const list = table(head, shown.map(row), 'There were no requests yet.');
      output.show(shown, [list, ...refusals.map(describeRefusal)].join('\n'));
    }
    if (events) await printEach(events, new Set(shown.map(({ id }) => id)), output);
  });
}

function exportAll(control: Control, format: ExportFormat, times: { sinceMs?: number; untilMs?: number }) {
  const listRequests = ({ limit, before, ...filter }: RequestFilter) =>
    control.query({ type: 'requests', filter, limit, before });
  return exportRequests({ listRequests }, format, times);
}

async function printEach(
  events: AsyncIterable<EventMessage>,
  shown: ReadonlySet<string>,
  output: Output,
): Promise<void> {
  for await (const { event } of events) {
    if (event.type !== 'request-finished' || shown.has(event.request.id)) continue;
    output.showOne(event.request, row(event.request).join('  '));
  }
}

function row(request: LoggedRequest): string[] {
  const { usage } = request;
  const about = request.usageCertainty === 'estimated' ? '~' : '';
  return [
    localTime(request.startedAt),
    String(request.status ?? '-') + (request.outcome === 'ok' ? '' : ` ${request.outcome ?? 'running'}`),
    request.totalMs === null ? '-' : String(Math.round(request.totalMs)),
    `${request.method} ${request.route}`,
    request.modelAsked ?? '-',
    request.provider ?? '-',
    request.keyId ?? '-',
    usage?.inputTokens === undefined && usage?.outputTokens === undefined
      ? '-'
      : `${about}${usage.inputTokens ?? '?'} + ${usage.outputTokens ?? '?'}`,
    request.costUsd === null ? '-' : `${about}$${request.costUsd.toFixed(5)}`,
  ];
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError('Give a number from 1 to 1000.');
}
