/** What is said of ids that do not exist: the nearest one that does, or the command that lists them. */
import { controlError } from '../contract/control-error.ts';
import type { Named } from '../contract/control-problem.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Control } from './control.ts';
import { didYouMean } from './wrong-usage.ts';

interface List {
  /** Absent for ids that nobody types by heart. */
  ids?(control: Control): Promise<string[]>;
  command: string;
}

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

const lists: Record<Named | 'token' | 'person', List> = {
  provider: {
    ids: async ({ query }) => idsOf(await query({ type: 'providers' })),
    command: 'sluice provider list',
  },
  key: { ids: async ({ query }) => idsOf(await query({ type: 'keys' })), command: 'sluice key list' },
  group: { ids: async ({ query }) => idsOf(await query({ type: 'groups' })), command: 'sluice group list' },
  alias: {
    ids: async ({ query }) => (await query({ type: 'aliases' })).map(({ name }) => name),
    command: 'sluice alias list',
  },
  preset: { ids: async ({ query }) => idsOf(await query({ type: 'presets' })), command: 'sluice provider presets' },
  credential: {
    ids: async ({ query }) =>
      (await query({ type: 'providers' })).flatMap(({ credentials }) => credentials.map(({ id }) => id)),
    command: 'sluice provider list --json',
  },
  request: { command: 'sluice log --json' },
  session: { command: 'sluice session list' },
  token: { ids: async ({ query }) => idsOf(await query({ type: 'tokens' })), command: 'sluice token list' },
  person: { ids: async ({ query }) => idsOf(await query({ type: 'people' })), command: 'sluice people list' },
};

/** The ids of a kind, for completions too. */
export function idsFor(kind: keyof typeof lists, control: Control): Promise<string[]> {
  return lists[kind].ids?.(control) ?? Promise.resolve([]);
}

/** Rejects with `not_found`, so that nobody is asked whether to remove what does not exist. */
export async function mustExist(
  kind: 'provider' | 'key' | 'group' | 'alias',
  id: string,
  control: Control,
): Promise<void> {
  if (!(await idsFor(kind, control)).includes(id)) throw controlError('not_found', { code: `no-${kind}`, id }, 'id');
}

/** The same error; if it is about an id, with the way to the right one. */
export async function withWayOn(error: unknown, control: Control): Promise<unknown> {
  if (!(error instanceof GatewayError && error.problem && 'id' in error.problem)) return error;
  const { code, message, param, problem } = error;
  const kind = /^no-(.+)$/.exec(problem.code)?.[1];
  if (kind === undefined || !(kind in lists)) return error;
  const list = lists[kind as keyof typeof lists];
  const nearest = didYouMean(error.problem.id, await knownIds(list, control));
  return new GatewayError(code, `${message}${nearest || ` "${list.command}" lists what there is.`}`, {
    param,
    problem,
  });
}

/** None if they may not be listed: the first error is the one to tell. */
async function knownIds({ ids }: List, control: Control): Promise<string[]> {
  try {
    return (await ids?.(control)) ?? [];
  } catch {
    return [];
  }
}
