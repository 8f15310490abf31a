import { describe, expect, test } from 'vitest';
import { usageDimensions } from '../../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../../server/contract/request-views.ts';
import { nameDimensions } from '../../../../../server/store/rules/request-conditions.ts';
import { storableRow } from '../../../../../server/store/rules/storable-row.ts';
import type { Ledger } from '../../../../../server/store/sqlite/ledger.ts';
import type { RequestPage } from '../../../../../server/store/sqlite/queries.ts';
import {
  fullBegunRow,
  hostileMembers,
  hostileNumbers,
  hostileRows,
  hostileTexts,
  withMember,
} from '../../../../support/hostile-rows.ts';
import { healthy } from '../../sqlite/records.ts';
import { ended, hour, minute, noon, type StoreSubject, useLedger } from '../store-subject.ts';

const span = { sinceMs: noon, untilMs: noon + hour };
const within = { keyIds: ['k1'], groupIds: ['default'] };

/** Answers to every kind of question, of all requests. */
export async function everyAnswer(ledger: Ledger): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const by of usageDimensions) {
    answers[`by ${by}`] = await ledger.summarizeUsage({ by });
    answers[`by ${by}, within`] = await ledger.summarizeUsage({ by, ...span, within });
    for (const stepMs of [minute, hour])
      answers[`by ${by}, ${stepMs}`] = await ledger.usageOverTime({ by, ...span, stepMs });
    answers[`by ${by}, first bytes`] = await ledger.firstByteTimes({ by, ...span, stepMs: hour });
  }
  for (const dimension of nameDimensions) answers[`names: ${dimension}`] = await ledger.listNames(dimension);
  for (const by of ['duration', 'cost', 'first-byte', 'tokens'] as const)
    answers[`sorted by ${by}`] = await ledger.listRequests({ sort: { by, isAscending: false }, limit: 1_000 });
  for (const search of ['x', 'broke', '\0', '\ud800'])
    answers[`search ${search}`] = await ledger.listRequests({ search });
  answers.count = await ledger.countRequests({});
  answers.clients = await ledger.listClients();
  answers.unpriced = await ledger.listUnpriced();
  answers.sessions = await ledger.listSessions({ limit: 200 });
  answers.session = await ledger.getSession('ses_1');
  answers.spent = await ledger.history.spent('key', 'k1', {
    startMs: Number.NEGATIVE_INFINITY,
    endMs: Number.POSITIVE_INFINITY,
  });
  answers.today = await ledger.history.spent('group', 'default', { startMs: noon, endMs: noon + hour });
  answers.late = await ledger.history.requestsSince('key', 'k1', noon);
  return answers;
}

async function allRequests(ledger: Ledger): Promise<RequestView[]> {
  const all: RequestView[] = [];
  for (let next: number | null = Number.MAX_SAFE_INTEGER; next !== null; ) {
    const page: RequestPage = await ledger.listRequests({ limit: 1_000, before: next });
    all.push(...page.requests);
    next = page.next;
  }
  return all;
}

/** As JSON, which has no -0. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The session has the name, and the only attempt of a request may be derived from its other columns. */
const stableParts = ({ session, attempts, ...row }: Omit<RequestView, 'seq'>) => ({
  ...row,
  session: session && { ...session, name: null },
  attempts: attempts.length === 1 ? [] : attempts,
});

export function hostileContract(subject: StoreSubject): void {
  describe('rows with hostile values', () => {
    const used = useLedger(subject);

    test('are all stored, as the same rows by every store, and every question is answered with them', async () => {
      const rows = hostileRows(3_000, { seed: 31, startedAt: noon });
      used.add(...rows, ended('req_plain', { startedAt: noon + 4_000 }));
      await used.ledger.flush();
      expect(used.ledger.health()).toEqual(healthy);
      const stored = rows.map(storableRow);
      const views = new Map((await allRequests(used.ledger)).map((view) => [view.id, view]));
      for (const row of stored) {
        const view = views.get(row.id);
        expect(view && asJson({ ...stableParts(view), seq: 0 })).toEqual(asJson({ ...stableParts(row), seq: 0 }));
      }
      await everyAnswer(used.ledger);
      const [sum] = await used.ledger.summarizeUsage({ by: 'day' });
      const total = (amountOf: (row: (typeof stored)[number]) => number) =>
        stored.reduce((all, row) => all + amountOf(row), 0);
      expect(sum).toMatchObject({
        requests: 3_001,
        inputTokens: 10 + total(({ usage }) => usage?.inputTokens ?? 0),
        images: total(({ usage }) => usage?.images ?? 0),
      });
      const costUsd = 0.001 + total((row) => row.costUsd ?? 0);
      expect(Math.abs((sum?.costUsd ?? 0) - costUsd)).toBeLessThan(1e-9 * costUsd);
    });

    test('that have only begun are stored too, and count as interrupted with what they had reserved', async () => {
      const full = fullBegunRow('req_0', noon);
      const rows = hostileMembers(full).flatMap((path) =>
        [...hostileNumbers, ...hostileTexts].map((value) =>
          withMember(full, path, (before) => (typeof before === typeof value ? value : before)),
        ),
      );
      const begun = rows.map((row, index) => ({ ...row, id: `req_${index}` }));
      for (const { reserved = null, ...row } of begun) used.ledger.started(row, reserved);
      await used.ledger.flush();
      expect(used.ledger.health()).toEqual(healthy);
      await used.restart();
      await subject.findInterrupted?.();
      expect(await used.ledger.countRequests({ outcome: 'interrupted' })).toMatchObject({ requests: begun.length });
      await everyAnswer(used.ledger);
    });
  });
}
