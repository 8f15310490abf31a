/** `sluice log`: the requests in the ledger, and new ones as they end. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { statusPattern } from '../contract/comparison.ts';
import { verdictOf } from '../contract/count.ts';
import type { EventMessage } from '../contract/events.ts';
import type { QueryResults, RequestFilterInput } from '../contract/queries.ts';
import { fitsFilter, rangeMs, readFilterText } from '../contract/request-filter.ts';
import { repairText } from '../contract/request-views.ts';
import { type ExportFormat, exportRequests } from '../store/sqlite/export.ts';
import type { RequestFilter } from '../store/sqlite/queries.ts';
import type { Control } from './control.ts';
import { describeRequest, type LoggedRequest, requestColumns, requestRow, usualRow } from './describe-request.ts';
import type { Examples } from './help.ts';
import { showCurrency } from './money.ts';
import type { Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { followed, table } from './shown.ts';
import { describeRefusal, recentRefusals } from './status.ts';
import { parsePastTime } from './time-options.ts';
import type { VerbContext, Verbs } from './verb.ts';
import { didYouMean } from './wrong-usage.ts';

interface LogOptions extends FilterOptions {
  follow?: boolean;
  limit: number;
  export?: ExportFormat;
}

export const logExamples: Examples = {
  log: [
    'sluice log --follow --errors',
    'sluice log --key my-editor --since 2h',
    'sluice log --filter "status:>=500 cost:>0.05 range:7d"',
    'sluice log --filter is:pinned',
    'sluice log --export csv --since 30d > requests.csv',
  ],
  'log show': [
    'sluice log show req_0123456789abcdef0123456789abcdef',
    'sluice log show req_0123456789abcdef0123456789abcdef --json',
  ],
  'log pin': [
    'sluice log pin req_0123456789abcdef0123456789abcdef',
    'sluice log pin req_0123456789abcdef0123456789abcdef --note "the slow one"',
  ],
  'log note': [
    'sluice log note req_0123456789abcdef0123456789abcdef "same with gpt-5-mini?"',
    'sluice log note req_0123456789abcdef0123456789abcdef ""',
  ],
  'log unpin': [
    'sluice log unpin req_0123456789abcdef0123456789abcdef',
    'sluice log unpin req_0123456789abcdef0123456789abcdef --gateway https://gateway.example',
  ],
};

export function addLogVerb(program: Command, { on }: Verbs): void {
  const log = program
    .command('log')
    .description('show the latest requests; with --json, one on each line')
    .argument('[id]', 'a request, as in its x-sluice-request-id: all its details')
    .option('-n, --limit <number>', 'the number of requests', parseLimit, 20)
    .option('-f, --follow', 'keep printing new requests')
    .addOption(
      new Option('--export <format>', 'export all requests with all fields')
        .choices(['csv', 'jsonl'])
        .conflicts('follow'),
    );
  addFilterOptions(log);
  on<LogOptions>(log, async (context, [id], options) => {
    await showCurrency(context.control);
    const filter = filterOf(options);
    if (id !== undefined) return showOne(context, id);
    if (options.export && filter.search !== undefined) {
      noteRepair(context.output, await context.control.query({ type: 'requests', filter, limit: 1 }));
    }
    if (options.export) {
      const progress = context.output.progress();
      let lines = 0;
      for await (const chunk of exportAll(context.control, options.export, filter)) {
        context.terminal.stdout.write(chunk);
        lines += chunk.split('\n').length - 1;
        if (!context.terminal.stdout.isTTY) progress.at(`${lines} lines exported`);
      }
      progress.end();
      return;
    }
    await showList(context, filter, options);
  });
  const show = log.command('show').argument('<id>').description('show all details of a request');
  on(show, async (context, [id = '']) => {
    await showCurrency(context.control);
    await showOne(context, id);
  });
  addPinVerbs(log, on);
}

/** Pinned requests are listed by `--filter is:pinned`. */
function addPinVerbs(log: Command, on: Verbs['on']): void {
  const pin = log
    .command('pin')
    .argument('<id>')
    .description('keep a request beyond the retention of the log, until it is unpinned')
    .option('--note <text>', 'a note, which searches find');
  on<{ note?: string }>(pin, async ({ control, output }, [id = ''], { note }) => {
    const result = await control.execute({ type: 'request.pin', id, ...(note !== undefined && { note }) });
    output.show(result, `Request ${id} is pinned.`);
  });
  const note = log
    .command('note')
    .argument('<id>')
    .argument('<text>', 'the note, in place of an earlier one; "" removes it')
    .description('pin a request with a note');
  on(note, async ({ control, output }, [id = '', text = '']) => {
    const result = await control.execute({ type: 'request.pin', id, note: text });
    output.show(
      result,
      result.pin.note === null ? `Request ${id} has no note.` : `Request ${id} is pinned, with the note.`,
    );
  });
  const unpin = log.command('unpin').argument('<id>').description('keep a request no longer than others of its age');
  on(unpin, async ({ control, output }, [id = '']) => {
    output.show(await control.execute({ type: 'request.unpin', id }), `Request ${id} is no longer pinned.`);
  });
}

async function showOne({ control, output }: VerbContext, id: string): Promise<void> {
  const [{ request, capture, pin }, texts] = await Promise.all([
    control.query({ type: 'request', id }),
    control.query({ type: 'request-texts', ids: [id] }),
  ]);
  const answered = capture && (await answerIn(capture));
  output.show(
    judged(request),
    describeRequest(request, { asked: texts[0]?.prompt ?? texts[0]?.opening, answered, pin }),
  );
}

/** Loaded for this alone: it brings the readers of all APIs' answers. */
async function answerIn({ response }: NonNullable<QueryResults['request']['capture']>): Promise<string | null> {
  const { answerTextOf } = await import('../contract/conversation/body-content.ts');
  const { contentOf } = await import('../contract/conversation/body-content.ts');
  const { shortened } = await import('../contract/conversation/request-text.ts');
  const text = answerTextOf(contentOf(response));
  return text && shortened(text);
}

async function showList(
  { control, output }: VerbContext,
  filter: RequestFilterInput,
  { follow, limit }: LogOptions,
): Promise<void> {
  if (follow && filter.search !== undefined) {
    throw new CliError('--search looks at requests that have ended: leave out --follow.', exitCodes.usage);
  }
  // Opened before the list is queried, so that no request is lost in between.
  const events = follow ? await control.openEvents() : undefined;
  const page = await control.query({ type: 'requests', filter, limit });
  noteRepair(output, page);
  const shown = page.requests.toReversed().filter((request) => !follow || request.outcome !== null);
  if (output.isJson) for (const request of shown) output.showOne(judged(request), '');
  else await printTable(shown, filter, { control, output, isFollowed: events !== undefined });
  if (events) await printEach(events, { shown, filter, output });
}

/** As programs read it: with its verdict, as exports have it. */
const judged = (request: LoggedRequest) => ({ ...request, verdict: verdictOf(request) });

/** Says that a search may not find everything yet. */
function noteRepair(output: Output, { repairedPercent }: QueryResults['requests']): void {
  if (repairedPercent !== null) output.note(repairText(String(repairedPercent)));
}

/** Refusals have no key, group or model, so they are shown only without a filter. */
async function printTable(
  shown: readonly LoggedRequest[],
  filter: RequestFilterInput,
  { control, output, isFollowed }: { control: Control; output: Output; isFollowed: boolean },
): Promise<void> {
  const isEverything = Object.keys(filter).length === 0;
  const refusals = isEverything ? await recentRefusals(control) : [];
  const none = isFollowed ? '' : isEverything ? 'There were no requests yet.' : 'There are no such requests.';
  if (shown.length === 0) for (const note of await unknownNames(control, filter)) output.note(note);
  const rows = shown.map(requestRow);
  const list = isFollowed
    ? followed(requestColumns, rows, { usual: usualRow, hasHead: true })
    : table(requestColumns, rows, none);
  output.show(shown, [list, ...refusals.map(describeRefusal)]);
}

function exportAll(control: Control, format: ExportFormat, selected: RequestFilterInput) {
  const listRequests = ({ limit, before }: RequestFilter) =>
    control.query({ type: 'requests', filter: selected, limit, before });
  return exportRequests({ listRequests, listPins: () => control.query({ type: 'pins' }) }, format);
}

async function printEach(
  events: AsyncIterable<EventMessage>,
  { shown, filter, output }: { shown: readonly LoggedRequest[]; filter: RequestFilterInput; output: Output },
): Promise<void> {
  const before = new Set(shown.map(({ id }) => id));
  for await (const { event } of events) {
    if (event.type !== 'request-finished' || before.has(event.request.id)) continue;
    if (filter.pinned || !fitsFilter(event.request, filter)) continue;
    const rows = [requestRow(event.request)];
    output.showOne(judged(event.request), followed(requestColumns, rows, { usual: usualRow, hasHead: false }));
  }
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError('Give a number from 1 to 1000.');
}

interface FilterOptions {
  key?: string;
  group?: string;
  model?: string;
  provider?: string;
  client?: string;
  status?: string;
  errors?: boolean;
  filter?: RequestFilterInput;
  search?: string;
  since?: number;
  until?: number;
}

/** The options by which `sluice log` selects requests. */
function addFilterOptions(command: Command): Command {
  return command
    .option('--key <id>', 'of this key')
    .option('--group <id>', 'of this group')
    .option('--model <name>', 'of this model, as it was asked for or served')
    .option('--provider <id>', 'that this provider answered')
    .option(
      '--client <client>',
      'of this client: its name (“Claude Code”), its id in `sluice connect`, or its whole user-agent',
    )
    .option('--status <code>', 'with this status: 429, a class such as 5xx, or ">=500"', parseStatus)
    .option('--errors', 'that failed; those that Sluice refused: --filter outcome:refused')
    .option('--filter <conditions>', 'as in the window: "model:gpt-5 cost:>0.05 duration:>10s gate"', parseFilter)
    .option('--search <text>', 'with this text in ids, names, errors, captured bodies or notes')
    .option('--since <when>', 'from then on: a date, or a time span such as 30d', parsePastTime)
    .option('--until <when>', 'before then', parsePastTime);
}

/** Throws a CliError for an empty time range. */
function filterOf(options: FilterOptions): RequestFilterInput {
  const { key, group, model, provider, client, status, errors, search, since, until, filter } = options;
  if (since !== undefined && until !== undefined && since >= until) {
    throw new CliError('Nothing lies between --since and --until: --until is not the later one.', exitCodes.usage);
  }
  return {
    ...filter,
    ...(key !== undefined && { keyId: key }),
    ...(group !== undefined && { groupId: group }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(client !== undefined && { client }),
    ...(status !== undefined && { status }),
    ...(errors && { outcome: 'failed' }),
    ...(search !== undefined && { search }),
    ...(since !== undefined && { sinceMs: since }),
    ...(until !== undefined && { untilMs: until }),
  };
}

/**
 * Messages for names that do not exist, printed if nothing was found, because a mistyped name looks like one without
 * requests.
 */
async function unknownNames(control: Control, { keyId, groupId, provider }: RequestFilterInput): Promise<string[]> {
  const lookups = [
    { kind: 'key', id: keyId, list: () => control.query({ type: 'keys' }) },
    { kind: 'group', id: groupId, list: () => control.query({ type: 'groups' }) },
    { kind: 'provider', id: provider, list: () => control.query({ type: 'providers' }) },
  ];
  const notes = lookups.map(async ({ kind, id, list }) => {
    if (id === undefined) return [];
    const ids = (await list()).map((each) => each.id);
    return ids.includes(id) ? [] : [`There is no ${kind} "${id}".${didYouMean(id, ids)}`];
  });
  return (await Promise.all(notes)).flat();
}

function parseStatus(text: string): string {
  const status = text.toLowerCase();
  if (statusPattern.test(status)) return status;
  throw new InvalidArgumentError('Use a status such as 429, a class such as 5xx, or ">=500".');
}

function parseFilter(text: string): RequestFilterInput {
  const { filter, words, wrong } = readFilterText(text);
  if (wrong.length > 0) throw new InvalidArgumentError(`This is no condition: ${wrong.join(', ')}.`);
  const { range, search, ...conditions } = filter;
  const searched = [search, words].filter(Boolean).join(' ');
  return {
    ...conditions,
    ...(searched !== '' && { search: searched }),
    ...(range && { sinceMs: Date.now() - rangeMs[range] }),
  };
}
