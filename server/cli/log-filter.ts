/** The options by which `sluice log` selects requests. */
import { type Command, InvalidArgumentError } from 'commander';
import { statusPattern } from '../contract/comparison.ts';
import type { RequestFilterInput } from '../contract/queries.ts';
import { rangeMs, readFilterText } from '../contract/request-filter.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { parsePastTime } from './time-options.ts';
import { didYouMean } from './wrong-usage.ts';

export interface FilterOptions {
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

export function addFilterOptions(command: Command): Command {
  return command
    .option('--key <id>', 'of this key')
    .option('--group <id>', 'of this group')
    .option('--model <name>', 'of this model, as it was asked for or served')
    .option('--provider <id>', 'that this provider answered')
    .option('--client <user-agent>', 'of this client, as its user-agent names it')
    .option('--status <code>', 'with this status: 429, a class such as 5xx, or ">=500"', parseStatus)
    .option('--errors', 'that failed')
    .option('--filter <conditions>', 'as in the window: "model:gpt-5 cost:>0.05 duration:>10s gate"', parseFilter)
    .option('--search <text>', 'with this text in ids, names, errors or captured bodies')
    .option('--since <when>', 'from then on: a date, or a time span such as 30d', parsePastTime)
    .option('--until <when>', 'before then', parsePastTime);
}

/** Throws a CliError for an empty time range. */
export function filterOf(options: FilterOptions): RequestFilterInput {
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
export async function unknownNames(
  control: Control,
  { keyId, groupId, provider }: RequestFilterInput,
): Promise<string[]> {
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
