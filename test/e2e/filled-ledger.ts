import { join } from 'node:path';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import { finishedRow, silent } from '../server/store/sqlite/records.ts';

const count = 600;
const spanMs = 20 * 3_600_000;

/** Writes 600 requests of the last twenty hours into the ledger of a data folder. Some of them have failed. */
export function fillWithRequests(folder: string): void {
  const beginMs = Date.now() - spanMs;
  fill(folder, count, (index) => beginMs + Math.floor(((index + 1) / count) * spanMs) - 1_000);
}

/** Writes ten requests of Codex, three days old. */
export function fillWithOldRequests(folder: string): void {
  const beginMs = Date.now() - 3 * 86_400_000;
  fill(folder, 10, (index) => beginMs + index, { client: 'codex_cli_rs/0.61' });
}

function fill(
  folder: string,
  requests: number,
  startedAt: (index: number) => number,
  more: Partial<RequestRecord> = {},
): void {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedger({ database, log: silent });
  for (let index = 0; index < requests; index++) {
    ledger.finished({ ...requestAt(index, startedAt(index)), ...more });
  }
  ledger.close();
  database.close();
}

function requestAt(index: number, startedAt: number): RequestRecord {
  // Lower numbers occur more often.
  const model = `gpt-${Math.floor((((index * 7) % 10) ** 2 / 100) * 8)}`;
  const failed = { outcome: 'error', status: 429, errorCode: 'rate_limit_exceeded', usage: null } as const;
  return finishedRow(`req_${index.toString(16).padStart(32, '0')}`, {
    startedAt,
    provider: index % 3 === 0 ? 'bare' : 'openai',
    modelAsked: model,
    modelServed: model,
    firstByteMs: 100 + ((index * 37) % 400),
    totalMs: 600 + ((index * 91) % 5_000),
    costUsd: 0.01,
    ...(index % 25 === 24 && failed),
  });
}
