/** Requests for the tests of ledgers. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedExchange } from '../../../../server/contract/capture.ts';
import type { RequestRecord, RequestSession, RequestStarted } from '../../../../server/contract/ledger.ts';
import type { LedgerHealthView } from '../../../../server/contract/status-views.ts';
import type { SweepClock } from '../../../../server/store/sqlite/retention.ts';
import { attemptRecord } from '../../../support/stand-ins.ts';

const accounting = {
  usage: { inputTokens: 10, outputTokens: 5 },
  usageCertainty: 'reported',
  costUsd: 0.001,
} satisfies Partial<RequestRecord>;

export const noon = Date.UTC(2026, 10, 20, 12);
export const silent = { warn() {} };
/** The health of a ledger in which everything is written. */
export const healthy: LedgerHealthView = {
  ok: true,
  pending: 0,
  spooled: 0,
  dropped: 0,
  lastError: null,
  budgetsError: null,
  replaced: null,
};
/** A request that has a shadow. */
export const shadowed = {
  id: 'req_1',
  provider: 'main',
  model: 'gpt-x',
  costUsd: 0.001,
  firstByteMs: 12.25,
  totalMs: 20,
  outputTokens: 5,
};
/** A clock that is known to be right. */
export const clockAt = (nowMs: () => number): SweepClock => ({
  read: () => ({ earliestMs: nowMs(), latestMs: nowMs() }),
  latestMs: nowMs,
});
export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'sluice-test-'));

export function startedRow(id: string, more: Partial<RequestStarted> = {}): RequestStarted {
  return {
    id,
    startedAt: noon,
    keyId: 'k1',
    groupId: 'default',
    route: '/v1/chat/completions',
    method: 'POST',
    capability: 'chat',
    modelAsked: 'fast',
    stream: false,
    session: null,
    shadowOf: null,
    ...more,
  };
}

export function finishedRow(id: string, more: Partial<RequestRecord> = {}): RequestRecord {
  const startedAt = more.startedAt ?? noon;
  return {
    ...startedRow(id),
    outcome: 'ok',
    status: 200,
    errorCode: null,
    modelServed: 'gpt-x',
    provider: 'main',
    credential: 'c1',
    queueMs: 0.25,
    connectMs: null,
    firstByteMs: 12.25,
    totalMs: 20,
    bytesIn: 100,
    bytesOut: 900,
    attempts: [
      attemptRecord({
        startedAt,
        firstByteMs: 12.25,
        totalMs: 19.75,
        upstreamRequestId: 'req_upstream',
        ...accounting,
      }),
    ],
    ...accounting,
    client: 'OpenAI/JS 7.55.0',
    clientRetries: 0,
    dropped: [],
    emulated: [],
    captured: null,
    cached: null,
    fault: null,
    cassette: null,
    sameAnswer: null,
    ...more,
  };
}

/** The session of a request that names nothing else. */
export function sessionMark(id: string, more: Partial<RequestSession> = {}): RequestSession {
  return { id, name: null, thread: null, step: null, tools: [], ...more };
}

/** The capture of a request that was answered at the first attempt, which sent and received the same bytes. */
export function capturedExchange(request: string, response = ''): CapturedExchange<Uint8Array> {
  const message = (text: string) => {
    const body = Buffer.from(text);
    return {
      headers: [['x-team', 'blue']] as const,
      body: body.length > 0 ? body : null,
      bytes: body.length,
      gap: null,
    };
  };
  const about = { method: 'POST', url: '/v1/chat/completions' };
  const asClient = { headers: [], body: null, bytes: null, gap: 'as-client' } as const;
  return {
    request: { ...about, ...message(request) },
    response: { status: 200, ...message(response) },
    attempts: [{ request: { ...about, ...asClient }, response: { status: 200, ...asClient } }],
  };
}

/** Provider p0 did not answer, p1 broke off after part of the answer, and p2, whose price is unknown, sent the rest. */
export function rescuedRow(id: string, more: Partial<RequestRecord> = {}): RequestRecord {
  return finishedRow(id, {
    provider: 'p2',
    modelServed: 'b',
    usage: { inputTokens: 41, outputTokens: 16 },
    usageCertainty: 'estimated',
    costUsd: null,
    attempts: [
      attemptRecord({ provider: 'p0', model: 'a', status: 500, failure: 'transient', costUsd: 0 }),
      attemptRecord({
        cause: 'fallback',
        provider: 'p1',
        model: 'a',
        failure: 'stream-broken',
        usage: { inputTokens: 20, outputTokens: 7 },
        usageCertainty: 'estimated',
        costUsd: 0.5,
      }),
      attemptRecord({
        cause: 'rescue',
        provider: 'p2',
        model: 'b',
        usage: { inputTokens: 21, outputTokens: 9 },
        usageCertainty: 'reported',
        costUsd: null,
      }),
    ],
    ...more,
  });
}
