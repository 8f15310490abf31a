import type { StoreSubject } from '../store-subject.ts';
import { hostileContract } from './hostile.ts';
import { keptContract } from './kept.ts';
import { lateEndsContract } from './late-ends.ts';
import { overTimeContract } from './over-time.ts';
import { recordingContract } from './recording.ts';
import { requestsContract } from './requests.ts';
import { sessionsContract } from './sessions.ts';
import { spentContract } from './spent.ts';
import { usageContract } from './usage.ts';
import { wordsContract } from './words.ts';

/** The contract of every implementation of the port `Ledger`. */
export function ledgerContract(subject: StoreSubject): void {
  recordingContract(subject);
  lateEndsContract(subject);
  requestsContract(subject);
  usageContract(subject);
  overTimeContract(subject);
  spentContract(subject);
  sessionsContract(subject);
  keptContract(subject);
  hostileContract(subject);
  wordsContract(subject);
}
