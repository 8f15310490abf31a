import type { AttemptRecord } from '../../server/contract/ledger.ts';

/** The record of a successful attempt without anything unusual. */
export function attemptRecord(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    cause: 'first',
    provider: 'main',
    credential: 'c1',
    model: 'gpt-x',
    startedAt: 1,
    connectMs: null,
    firstByteMs: null,
    firstContentMs: null,
    longestGapMs: null,
    totalMs: null,
    status: 200,
    failure: null,
    error: null,
    droppedEvents: 0,
    upstreamRequestId: null,
    usage: null,
    usageCertainty: 'none',
    costUsd: null,
    ...more,
  };
}
