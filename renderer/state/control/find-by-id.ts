/** Queries keys and groups by id; the requests of all rows of a list are combined into one query. */
import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import { maxReported } from '../../../server/contract/find.ts';
import type { QueryInputMap } from '../../../server/contract/queries.ts';
import type { ControlApi } from '../api/api.ts';

/** The kinds of entries of which there may be very many. */
export type Kind = 'key' | 'group';

export interface ViewOf {
  key: KeyView;
  group: GroupView;
}

export interface FindQuestion extends Omit<QueryInputMap['find-keys'], 'type'> {}

/** Resolves with null if it does not exist. Rejects with a `ControlError`. */
export type FindById = <K extends Kind>(kind: K, id: string) => Promise<ViewOf[K] | null>;

interface Round {
  ids: Set<string>;
  answer: Promise<{ found: { id: string }[] }>;
}

/** Combines all calls in the same turn of the event loop into one query. */
export function createFindById(query: ControlApi['query']): FindById {
  const open = new Map<Kind, Round>();
  const begin = (kind: Kind): Round => {
    const ids = new Set<string>();
    const round: Round = {
      ids,
      answer: Promise.resolve().then((): Round['answer'] => {
        if (open.get(kind) === round) open.delete(kind);
        const question = { ids: [...ids], limit: maxReported };
        return kind === 'key' ? query({ type: 'find-keys', ...question }) : query({ type: 'find-groups', ...question });
      }),
    };
    open.set(kind, round);
    return round;
  };
  return async <K extends Kind>(kind: K, id: string) => {
    const last = open.get(kind);
    const round = last && last.ids.size < maxReported ? last : begin(kind);
    round.ids.add(id);
    const { found } = await round.answer;
    // Safe: the query is that of the kind.
    return (found.find((view) => view.id === id) ?? null) as ViewOf[K] | null;
  };
}
