import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe } from 'vitest';
import { openLocalStore } from '../../../server/store/local-store.ts';
import { jobContract, keptResponseContract, reasoningContract } from './contract/jobs.ts';
import { ledgerContract } from './contract/ledger/ledger.ts';
import type { StoreSubject } from './contract/store-subject.ts';
import { silent, temporaryFolder } from './sqlite/records.ts';

describe('the store in SQLite', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const subject: StoreSubject = {
    open: async (settings) => openLocalStore({ dataDir: folder, log: { ...silent, error() {} }, settings }),
  };
  jobContract(subject);
  keptResponseContract(subject);
  reasoningContract(subject);
  ledgerContract(subject);
});
