/** The reservations of jobs that other replicas bill. */
import { expect, test } from 'vitest';
import { JobPoller } from '../../../../server/exchange/jobs/job-billing.ts';
import type { Job } from '../../../../server/store/ports/kept-stores.ts';
import { scriptedTransport } from '../../../support/stand-ins.ts';

function job(id: string): Job {
  const owner = { groupId: 'default', providerId: 'main', credentialId: null, model: null, keyId: 'k1' };
  return { kind: 'response', id, ...owner, createdAt: Date.now(), owed: { usage: {}, costUsd: 1 } };
}

/** A poller over a database that lists the jobs that owe. */
function pollerOver(owing: () => Promise<Job[]>) {
  const held = new Map<string, Job>();
  const poller = new JobPoller({
    jobs: { owing },
    bills: {
      hold: (one) => void held.set(one.id, one),
      get heldJobs() {
        return [...held.values()];
      },
      release: ({ id }) => void held.delete(id),
      settle: () => null,
      book() {},
    },
    transport: scriptedTransport(() => ({})),
    snapshot() {
      throw new Error('none of them is due');
    },
  });
  return { poller, held };
}

test('what another replica has billed is no longer reserved here', async () => {
  let owing = [job('one'), job('two')];
  const { poller, held } = pollerOver(async () => owing);
  await poller.poll();
  expect([...held.keys()]).toEqual(['one', 'two']);
  owing = [job('two')];
  await poller.poll();
  expect([...held.keys()]).toEqual(['two']);
  owing = [];
  await poller.stop();
  expect([...held.keys()]).toEqual([]);
});

test('a job that is made while the database is asked stays reserved', async () => {
  let answer = (_jobs: Job[]) => {};
  const { poller, held } = pollerOver(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const looking = poller.poll();
  held.set('new', job('new'));
  answer([]);
  await looking;
  expect([...held.keys()]).toEqual(['new']);
});

test('all stays reserved while the database cannot be read', async () => {
  const { poller, held } = pollerOver(() => Promise.reject(new Error('the database is away')));
  held.set('one', job('one'));
  await poller.poll();
  await poller.stop();
  expect([...held.keys()]).toEqual(['one']);
});
