import { describe, expect, test } from 'vitest';
import type { UpstreamError } from '../../../../server/apis/core/upstream-error.ts';
import { failureOf } from '../../../../server/exchange/answer/attempt-failures.ts';
import type { FailureReason } from '../../../../server/exchange/readers/response-reader.ts';
import { TransportError } from '../../../../server/transport/transport-error.ts';
import { targets } from '../attempts/scripted-attempts.ts';

const [target] = targets;
if (!target) throw new Error('There are three.');
const call = { target, hasBegun: false, mayContinue: false, redacted: (text: string) => text };
const said: UpstreamError = { message: 'No.', type: '', code: '', param: null, retryAfterMs: null };
const answer = (status: number, error: UpstreamError | null) => ({ status, headers: {}, body: Buffer.alloc(0), error });
const failing = (status: number, kind: 'transient' | 'rate-limit' | 'credential', error: UpstreamError | null = said) =>
  ({
    kind: 'answer',
    failure: { class: kind, retryable: true, retryAfterMs: null },
    answer: answer(status, error),
  }) as const;

describe('whether the upstream itself reported its failure', () => {
  test.each([
    ['an overload', failing(503, 'transient')],
    ['a limit', failing(429, 'rate-limit')],
    ['a refused credential', failing(401, 'credential')],
  ])('is true for %s, before and within an answer', (_name, reason) => {
    expect(failureOf(reason, call).failure.isAnswer).toBe(true);
    expect(failureOf(reason, { ...call, hasBegun: true }).failure).toMatchObject({
      class: 'stream-broken',
      isAnswer: true,
    });
  });

  test.each<[string, FailureReason]>([
    ['the page of a proxy', failing(502, 'transient', null)],
    ['a damaged answer', { kind: 'damage', problem: 'sent half an answer' }],
    ['an answer that goes on otherwise', { kind: 'divergence' }],
  ])('is false for %s', (_name, reason) => {
    expect(failureOf(reason, call).failure.isAnswer ?? false).toBe(false);
  });

  test.each(['dns', 'refused', 'tls', 'timeout', 'reset', 'proxy'] as const)(
    'is false if the network fails: %s',
    (fault) => {
      const error = new TransportError(fault, 'connect', 'no connection');
      expect(failureOf({ kind: 'transport', error }, call).failure.isAnswer ?? false).toBe(false);
    },
  );
});
