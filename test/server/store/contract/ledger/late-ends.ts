/** Requests that end in a later batch than they began: all that is derived from them must lead back to them. */
import { describe, expect, test } from 'vitest';
import { attemptRecord } from '../../../../support/attempt-record.ts';
import { capturedExchange, sessionMark } from '../../sqlite/records.ts';
import type { StoreSubject } from '../store-subject.ts';
import { began, ended, useLedger } from './used-ledger.ts';

export function lateEndsContract(subject: StoreSubject): void {
  describe('requests that end after others began', () => {
    const used = useLedger(subject);
    const idOf = (index: number) => `req_${index}`;
    const session = (index: number) => sessionMark(`ses_${index % 5}`);
    const fails = (index: number) => index % 7 === 3;

    async function begin(index: number): Promise<void> {
      used.ledger.started(began(idOf(index), { session: session(index), modelAsked: `model-${index}` }));
      await used.ledger.flush();
    }

    function end(index: number): void {
      const attempts = [attemptRecord({ error: `ember${index}x` })];
      const error = { outcome: 'error' as const, status: 500, attempts };
      const more = { session: session(index), modelAsked: `model-${index}`, provider: `provider-${index}` };
      used.add(ended(idOf(index), { ...more, captured: 'group', ...(fails(index) && error) }));
    }

    const capture = (index: number) => used.ledger.capture(idOf(index), capturedExchange(`"animal${index}x"`));

    async function expectFound(index: number): Promise<void> {
      const only = [idOf(index)];
      expect(await used.ids({ search: `animal${index}x` }), `text of ${index}`).toEqual(only);
      expect(await used.ids({ search: `ember${index}x` }), `error of ${index}`).toEqual(fails(index) ? only : []);
      expect(await used.ids({ model: `model-${index}` }), `model of ${index}`).toEqual(only);
      expect(await used.ids({ provider: `provider-${index}` }), `provider of ${index}`).toEqual(only);
    }

    /** Latest first, as their requests are. */
    async function expectSessionsInOrder(): Promise<void> {
      const { requests } = await used.ledger.listRequests({ limit: 1_000 });
      const { sessions } = await used.ledger.listSessions({});
      const ofRequests = new Set(requests.flatMap((request) => request.session?.id ?? []));
      expect(sessions.map(({ id }) => id)).toEqual([...ofRequests]);
    }

    test('are found by their own words, errors and names, and are the last of their own sessions', async () => {
      for (let index = 0; index < 10; index++) {
        await begin(index);
        used.add(ended(`req_between_${index}`));
        await used.ledger.flush();
        end(index);
        capture(index);
        await used.ledger.flush();
      }
      for (let index = 0; index < 10; index++) await expectFound(index);
      await expectSessionsInOrder();
    });

    test('are found so also where fifty run at once and end in another order', async () => {
      for (let index = 0; index < 600; index++) used.add(ended(`req_before_${index}`));
      for (let index = 0; index < 50; index++) await begin(index);
      for (let turn = 0; turn < 50; turn++) {
        const index = (turn * 17) % 50;
        end(index);
        capture(index);
        if (turn % 3 === 0) await used.ledger.flush();
      }
      for (let index = 0; index < 50; index++) await expectFound(index);
      await expectSessionsInOrder();
    });

    test('are found by their words where these are written before or after their end', async () => {
      await begin(1);
      capture(1);
      await used.ledger.flush();
      end(1);
      used.ledger.started(began(idOf(2)));
      capture(2);
      await used.ledger.flush();
      end(2);
      await used.ledger.flush();
      await begin(3);
      end(3);
      await used.ledger.flush();
      capture(3);
      for (const index of [1, 2, 3]) expect(await used.ids({ search: `animal${index}x` })).toEqual([idOf(index)]);
    });
  });
}
