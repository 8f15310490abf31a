/**
 * The past usage of people: that of the keys that they own and have owned, each for the time in which they owned it, so that
 * a key that was revoked still counts.
 */
import type { LimitScope } from '../contract/limits.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { OwnedKey } from '../store/ports/people-store.ts';
import {
  type HistoryRange,
  type LedgerMoment,
  type PastRequest,
  plus,
  type Spent,
  type SpentQuery,
  type UsageHistory,
} from '../store/sqlite/usage-history.ts';

/** Throws or rejects while it is not known. */
export type KeysOfPerson = (personId: string) => MaybePromise<readonly OwnedKey[]>;

const nothing: Spent = { usd: 0, tokens: 0, unpriced: 0 };

export function withPeople(history: UsageHistory, keysOf: KeysOfPerson): UsageHistory<LimitScope> {
  const { atSnapshot } = history;
  return {
    spent(scope, id, range) {
      if (scope !== 'person') return history.spent(scope, id, range);
      return then(keysOf(id), (keys) => then(all(questionsOf(keys, range).map(ask(history))), total));
    },
    requestsSince(scope, id, sinceMs) {
      if (scope !== 'person') return history.requestsSince(scope, id, sinceMs);
      return then(keysOf(id), (keys) => {
        const requests = keys.map((key) => then(history.requestsSince('key', key.keyId, sinceMs), within(key)));
        return then(all(requests), (each) => each.flat().sort((a, b) => a.startedAt - b.startedAt));
      });
    },
    forgetTotal: (scope, id) => (scope === 'person' ? undefined : history.forgetTotal(scope, id)),
    ...(atSnapshot && {
      atSnapshot: (work) => atSnapshot.call(history, (moment) => work(momentOf(moment, keysOf))) as never,
    }),
  };
}

function momentOf(moment: LedgerMoment, keysOf: KeysOfPerson): LedgerMoment<LimitScope> {
  return {
    async spent(questions) {
      const expanded = await Promise.all(
        questions.map(async ({ scope, id, range }) =>
          scope === 'person' ? questionsOf(await keysOf(id), range) : [{ scope, id, range }],
        ),
      );
      const answers = [...(await moment.spent(expanded.flat()))];
      return expanded.map((each) => total(answers.splice(0, each.length)));
    },
    ended: (requests) => moment.ended(requests),
  };
}

const ask =
  (history: UsageHistory) =>
  ({ scope, id, range }: SpentQuery) =>
    history.spent(scope, id, range);

/** Those parts of the range in which the person owned the keys. */
function questionsOf(keys: readonly OwnedKey[], { startMs, endMs }: HistoryRange): SpentQuery[] {
  return keys.flatMap(({ keyId, sinceMs, untilMs }) => {
    const range = { startMs: Math.max(startMs, sinceMs), endMs: Math.min(endMs, untilMs ?? endMs) };
    return range.startMs < range.endMs ? [{ scope: 'key', id: keyId, range }] : [];
  });
}

const within =
  ({ sinceMs, untilMs }: OwnedKey) =>
  (requests: readonly PastRequest[]) =>
    requests.filter(({ startedAt }) => startedAt >= sinceMs && (untilMs === null || startedAt < untilMs));

const total = (amounts: readonly Spent[]): Spent => plus(nothing, ...amounts);

/** A ledger in SQLite answers synchronously, and must be able to. */
function then<A, B>(value: MaybePromise<A>, next: (value: A) => MaybePromise<B>): MaybePromise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function all<A>(values: readonly MaybePromise<A>[]): MaybePromise<A[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as A[]);
}
