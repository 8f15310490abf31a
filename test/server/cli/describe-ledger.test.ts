import { expect, test } from 'vitest';
import { describeCaptured, describeLedger } from '../../../server/cli/status.ts';
import { settingsSchema } from '../../../server/contract/settings.ts';
import type { LedgerHealthView } from '../../../server/contract/status-views.ts';

const health = { ok: true, pending: 0, spooled: 0, dropped: 0, lastError: null, budgetsError: null, replaced: null };
const away: LedgerHealthView = { ...health, ok: false, pending: 7, lastError: 'connect ECONNREFUSED' };

test.each<[LedgerHealthView, string]>([
  [health, 'working'],
  [{ ...health, dropped: 3 }, 'working, 3 rows lost'],
  [away, 'cannot be written: connect ECONNREFUSED; 7 rows waiting'],
  [{ ...away, pending: 1 }, 'cannot be written: connect ECONNREFUSED; 1 row waiting'],
  [{ ...away, spooled: 5 }, 'cannot be written: connect ECONNREFUSED; 7 rows waiting, 5 of them on disk'],
  [
    { ...away, spooled: 5, dropped: 3 },
    'cannot be written: connect ECONNREFUSED; 7 rows waiting, 5 of them on disk, 3 rows lost',
  ],
])('a ledger is described with what waits and what is lost', (given, said) => {
  expect(describeLedger(given)).toBe(said);
});

test('what captures take is told beside what they may', () => {
  const settings = settingsSchema.parse({});
  expect(describeCaptured({ ledger: health, settings })).toBe('');
  const ledger = { ...health, capturedBytes: 12_900_000 };
  expect(describeCaptured({ ledger, settings })).toBe('; captures take 12.3 of 1024.0 MiB');
});
