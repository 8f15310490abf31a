/** The options by which `sluice log` selects requests. */
import { type Command, InvalidArgumentError } from 'commander';
import type { RequestFilterInput } from '../contract/queries.ts';
import { isError } from '../contract/request-errors.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import type { LoggedRequest } from './request-rows.ts';
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
    .option('--status <code>', 'with this status: 429, or a class such as 5xx', parseStatus)
    .option('--errors', 'that failed')
    .option('--search <text>', 'with this text in ids, names, errors or captured bodies')
    .option('--since <when>', 'from then on: a date, or a time span such as 30d', parsePastTime)
    .option('--until <when>', 'before then', parsePastTime);
}

/** Throws a CliError for an empty time range. */
export function filterOf(options: FilterOptions): RequestFilterInput {
  const { key, group, model, provider, client, status, errors, search, since, until } = options;
  if (since !== undefined && until !== undefined && since >= until) {
    throw new CliError('Nothing lies between --since and --until: --until is not the later one.', exitCodes.usage);
  }
  return {
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

/** Whether a request that has just ended matches. `search` and times apply only to the requests in the ledger. */
export function isSelected(request: LoggedRequest, filter: RequestFilterInput): boolean {
  const { keyId, groupId, model, provider, client, status, outcome } = filter;
  return (
    (keyId === undefined || request.keyId === keyId) &&
    (groupId === undefined || request.groupId === groupId) &&
    (model === undefined || request.modelAsked === model || request.modelServed === model) &&
    (provider === undefined || request.provider === provider) &&
    (client === undefined || request.client === client) &&
    (status === undefined || hasStatus(request, status)) &&
    (outcome !== 'failed' || isError(request))
  );
}

function hasStatus(request: LoggedRequest, status: string): boolean {
  const statusText = String(request.status ?? '');
  return status.endsWith('xx') ? statusText.startsWith(status.slice(0, 1)) : statusText === status;
}

function parseStatus(text: string): string {
  const status = text.toLowerCase();
  if (/^[1-5](?:\d\d|xx)$/.test(status)) return status;
  throw new InvalidArgumentError('Use a status such as 429, or a class such as 5xx.');
}
