/** Keys and groups of the engine: the reported ones, which its events contain, and others, which are queried on demand. */
import { useEffect, useMemo, useState } from 'react';
import type { GroupView, KeyView } from '../../../server/contract/access-views.ts';
import type { ConfigViews } from '../../../server/contract/events.ts';
import { type Found, fitting } from '../../../server/contract/find.ts';
import { asControlError, type ControlError } from '../api/api.ts';
import { useNow } from '../window/use-now.ts';
import type { FindQuestion, Kind, ViewOf } from './control-store.ts';
import { useControlState, useControlStore } from './use-control.ts';
import { useQuery } from './use-query.ts';

/** How often keys and groups that are not reported are queried again, because their usage changes. */
const usualAgainMs = 5_000;

interface One<View> {
  /** Null if it does not exist, or is not known yet. */
  view: View | null;
  isKnown: boolean;
  /** Why the query failed. */
  problem: ControlError | null;
}

/** Null if it does not exist, or is not known yet. */
export function useKey(id: string | null): KeyView | null {
  return useOne('key', id).view;
}

/** Null if it does not exist, or is not known yet. */
export function useGroup(id: string | null): GroupView | null {
  return useOne('group', id).view;
}

/** The name of a key or group, or its id if it has none; null without an id. */
export function useNameOf(kind: Kind, id: string | null): string | null {
  return useOne(kind, id).view?.name ?? id;
}

export function useOne<K extends Kind>(kind: K, id: string | null): One<ViewOf[K]> {
  const reported = useControlState(
    ({ views }) => (views && reportedOf(views, kind).find((view) => view.id === id)) ?? null,
  );
  const isThere = useControlState(({ views }) => views !== null);
  const isAsked = useIsPartial(kind) && reported === null && id !== null;
  const { views, problem } = useFoundById(kind, isAsked ? [id] : []);
  if (!isAsked) return { view: reported, isKnown: isThere, problem: null };
  return { view: views.get(id) ?? null, isKnown: views.has(id), problem };
}

/** Names by id; without those that are not known. */
export function useNamesOf(kind: Kind, ids: readonly string[]): ReadonlyMap<string, string> {
  const reported = useControlState(({ views }) => (views ? reportedOf(views, kind) : null));
  const isPartial = useIsPartial(kind);
  const names = useMemo(() => new Map(reported?.map(({ id, name }) => [id, name ?? id])), [reported]);
  const { views } = useFoundById(kind, isPartial ? ids.filter((id) => !names.has(id)) : []);
  return useMemo(() => {
    const foundNames = [...views].flatMap(([id, view]) => (view ? [[id, view.name ?? id] as const] : []));
    return new Map([...names, ...foundNames]);
  }, [names, views]);
}

/** Finds matching keys or groups. `answer` is null if nothing is known yet, or nothing is asked for. */
export function useFound<K extends Kind>(
  kind: K,
  question: FindQuestion | null,
  againMs = usualAgainMs,
): { answer: Found<ViewOf[K]> | null; problem: ControlError | null } {
  const reported = useControlState(({ views }) => (views ? reportedOf(views, kind) : null));
  const isPartial = useIsPartial(kind);
  const revision = useRevision(isPartial && question !== null);
  const turn = useNow((now) => (isPartial && question ? Math.floor(now / againMs) : 0));
  const type = kind === 'key' ? 'find-keys' : 'find-groups';
  const { answer, problem } = useQuery<'find-keys' | 'find-groups'>(
    isPartial && question ? { type, ...question } : null,
    `${revision} ${turn}`,
  );
  const questionJson = JSON.stringify(question);
  return useMemo(() => {
    const parsed: FindQuestion | null = JSON.parse(questionJson);
    // Safe, because the query belongs to the kind.
    if (isPartial || reported === null || parsed === null)
      return { answer: parsed && (answer as Found<ViewOf[K]>), problem };
    const matches = fitting<ViewOf[Kind]>(reported, parsed) as ViewOf[K][];
    return { answer: { found: matches.slice(0, parsed.limit), total: matches.length }, problem: null };
  }, [isPartial, reported, questionJson, answer, problem]);
}

/** All reported keys or groups, and those of the others that match. `left`: number of further matches. */
export function useReportedAndFound<K extends Kind>(
  kind: K,
  question: FindQuestion,
  againMs?: number,
): { views: readonly ViewOf[K][]; left: number } {
  const reported = useControlState(({ views }) => (views ? reportedOf(views, kind) : null));
  const isPartial = useIsPartial(kind);
  const { answer } = useFound(kind, isPartial ? question : null, againMs);
  return useMemo(() => {
    if (!reported || !answer) return { views: reported ?? [], left: 0 };
    const ids = new Set(reported.map(({ id }) => id));
    const others = answer.found.filter(({ id }) => !ids.has(id));
    return { views: [...reported, ...others], left: answer.total - answer.found.length };
  }, [reported, answer]);
}

/** Whether there are more than are reported. */
export function useIsPartial(kind: Kind): boolean {
  return useControlState(({ views }) => views !== null && countOf(views, kind) > reportedOf(views, kind).length);
}

/** Total number; null if not known yet. */
export function useCount(kind: Kind): number | null {
  return useControlState(({ views }) => views && countOf(views, kind));
}

// Safe: each list is of its kind.
const reportedOf = <K extends Kind>(views: ConfigViews, kind: K) =>
  (kind === 'key' ? views.keys : views.groups) as ViewOf[K][];
const countOf = (views: ConfigViews, kind: Kind) => (kind === 'key' ? views.keyCount : views.groupCount);

/** Null if it does not matter: what does not ask is not drawn again with each change of the configuration. */
const useRevision = (asks: boolean) => useControlState(({ views }) => (asks ? (views?.status.revision ?? null) : null));

interface Answers<View> {
  /** Null: there is none. */
  views: ReadonlyMap<string, View | null>;
  problem: ControlError | null;
}

/** Asks again after each change of the configuration, and once the connection is back. */
function useFoundById<K extends Kind>(kind: K, ids: readonly string[]): Answers<ViewOf[K]> {
  const { findById } = useControlStore();
  const [answers, setAnswers] = useState<Answers<ViewOf[K]>>({ views: new Map(), problem: null });
  const asks = ids.length > 0;
  const revision = useRevision(asks);
  const isOpen = useControlState(({ connection }) => asks && connection === 'open');
  // As a text, since the list is another object each time.
  const questionJson = JSON.stringify([isOpen ? ids : [], revision]);
  useEffect(() => {
    const [idsToFind] = JSON.parse(questionJson) as [string[], unknown];
    if (idsToFind.length === 0) return;
    let isNewest = true;
    Promise.all(idsToFind.map(async (id) => [id, await findById(kind, id)] as const)).then(
      (views) => isNewest && setAnswers({ views: new Map(views), problem: null }),
      (error: unknown) => isNewest && setAnswers((old) => ({ ...old, problem: asControlError(error) })),
    );
    return () => {
      isNewest = false;
    };
  }, [findById, kind, questionJson]);
  return answers;
}
