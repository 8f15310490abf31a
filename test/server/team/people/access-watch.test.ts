import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Caller } from '../../../../server/control/people/people.ts';
import { AccessWatch } from '../../../../server/team/people/people-service.ts';

const everyMs = 500;
let letIn: Map<string, Caller>;
let asked: string[][];
let watch: AccessWatch;

beforeEach(() => {
  vi.useFakeTimers();
  letIn = new Map(['ses_1', 'ses_2'].map((id) => [id, caller(id)]));
  asked = [];
  watch = new AccessWatch({
    everyMs,
    async recognize(ids) {
      asked.push([...ids]);
      return new Map(letIn);
    },
  });
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

const caller = (accessId: string, name = 'Mia'): Caller => ({
  person: { id: 'prs_1', name, email: null, isAdmin: false, manages: [], memberOf: ['ours'] },
  scopes: null,
  accessId,
  address: null,
});

test('any number of streams costs one question, and none costs nothing', async () => {
  await vi.advanceTimersByTimeAsync(10 * everyMs);
  expect(asked).toEqual([]);
  for (let index = 0; index < 100; index++) watch.add(caller(index % 2 === 0 ? 'ses_1' : 'ses_2'), () => {});
  await vi.advanceTimersByTimeAsync(2 * everyMs);
  expect(asked).toEqual([
    ['ses_1', 'ses_2'],
    ['ses_1', 'ses_2'],
  ]);
});

test('a stream whose access was revoked is notified once, at the next query or after a revocation', async () => {
  const [one, other, gone] = [vi.fn(), vi.fn(), vi.fn()];
  watch.add(caller('ses_1'), one);
  watch.add(caller('ses_2'), other);
  watch.add(caller('ses_1'), gone)();
  letIn.delete('ses_1');
  await watch.check();
  letIn.delete('ses_2');
  expect([one, other].map((each) => each.mock.calls.length)).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(2 * everyMs);
  expect([one, other, gone].map((each) => each.mock.calls.length)).toEqual([1, 1, 0]);
});

test('a stream with changed rights is notified, and so are all if the rights cannot be read', async () => {
  const [changed, other] = [vi.fn(), vi.fn()];
  watch.add(caller('ses_1'), changed);
  watch.add(caller('ses_2'), other);
  letIn.set('ses_1', caller('ses_1', 'Another'));
  await watch.check();
  expect([changed, other].map((each) => each.mock.calls.length)).toEqual([1, 0]);
  watch.close();
  const away = new AccessWatch({ everyMs, recognize: () => Promise.reject(new Error('away')) });
  away.add(caller('ses_2'), other);
  await away.check();
  expect(other).toHaveBeenCalledOnce();
  away.close();
});

test('a revocation during a query causes another query', async () => {
  const answer = Promise.withResolvers<void>();
  const refused = vi.fn();
  let questions = 0;
  const slow = new AccessWatch({
    everyMs,
    async recognize() {
      questions += 1;
      const now = new Map(letIn);
      if (questions === 1) await answer.promise;
      return now;
    },
  });
  slow.add(caller('ses_1'), refused);
  const first = slow.check();
  letIn.clear();
  const second = slow.check();
  answer.resolve();
  await Promise.all([first, second]);
  expect([questions, refused.mock.calls.length]).toEqual([2, 1]);
  slow.close();
});
