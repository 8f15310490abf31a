/** Requests to put into a ledger. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestRecord, RequestStarted } from '../../../server/contract/ledger.ts';

export const noon = Date.UTC(2026, 10, 20, 12);
export const silent = { warn() {} };
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
      {
        provider: 'main',
        credential: 'c1',
        model: 'gpt-x',
        startedAt,
        connectMs: null,
        firstByteMs: 12.25,
        totalMs: 19.75,
        status: 200,
        failure: null,
        error: null,
        upstreamRequestId: 'req_upstream',
      },
    ],
    usage: { inputTokens: 10, outputTokens: 5 },
    usageCertainty: 'reported',
    costUsd: 0.001,
    client: 'OpenAI/JS 7.55.0',
    clientRetries: 0,
    ...more,
  };
}
