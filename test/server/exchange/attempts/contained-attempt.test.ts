import { expect, test, vi } from 'vitest';
import { ContainedAttempt } from '../../../../server/exchange/attempts/attempt.ts';
import { TransportError } from '../../../../server/transport/transport-error.ts';

const fault = new Error('broken');
const fail = () => {
  throw fault;
};
const broken = {
  sent: fail,
  answered: fail,
  take: fail,
  finished: fail,
  late: fail,
  uncounted: fail,
  redirected: fail,
};

test.each<[string, (attempt: ContainedAttempt) => void]>([
  ['the end of the request', (attempt) => attempt.sent()],
  ['the headers', (attempt) => attempt.answered(200, {})],
  ['a chunk', (attempt) => attempt.take(Buffer.from('x'))],
  ['the end', (attempt) => attempt.finished()],
  ['a timeout', (attempt) => attempt.late(new TransportError('timeout', 'body', 'late'))],
  ['the end of the wait for usage', (attempt) => attempt.uncounted()],
  ['a redirect', (attempt) => attempt.redirected('/elsewhere')],
])('an exception at %s is contained', (_what, call) => {
  const broke = vi.fn();
  call(new ContainedAttempt(broken, broke));
  expect(broke.mock.calls).toEqual([[fault]]);
});

test('a late exception at the end is contained', async () => {
  const broke = vi.fn();
  new ContainedAttempt({ ...broken, finished: () => Promise.reject(fault) }, broke).finished();
  await vi.waitFor(() => expect(broke.mock.calls).toEqual([[fault]]));
});
