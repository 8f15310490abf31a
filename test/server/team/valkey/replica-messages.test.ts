/** Messages between replicas over a Valkey server. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { exactly, limited, none } from '../../limits/fake-limiter.ts';
import { admits } from '../../limits/limiter-contract.ts';
import { finishAt, openReplica, type Replica } from './replicas.ts';

describe.runIf(hasValkey())('messages of replicas', () => {
  let valkey: ValkeyServer;
  let opened: Replica[];
  let heard: Map<Replica, string[]>;

  beforeEach(async () => {
    [opened, heard] = [[], new Map()];
    valkey = await startValkey();
  });
  afterEach(async () => {
    await Promise.all(opened.map((replica) => replica.close()));
    await valkey.stop();
  });

  async function open(url = valkey.url): Promise<Replica> {
    const replica = await openReplica(url);
    opened.push(replica);
    const texts: string[] = [];
    heard.set(replica, texts);
    replica.messages.onMessage((text) => texts.push(text));
    return replica;
  }
  const listening = (count: number, database = 0) =>
    eventually(async () =>
      (await valkey.command('PUBSUB', 'NUMSUB', `sluice:health:${database}`)).endsWith(`,${count}`),
    );

  test('reach each of the others, in order', async () => {
    const [one, two, three] = [await open(), await open(), await open()];
    await listening(3);
    const sent = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    for (const text of sent) one.messages.send(text);
    two.messages.send('the last');
    await eventually(() => heard.get(three)?.length === 21 && heard.get(one)?.length === 1);
    expect(heard.get(two)).toEqual(sent);
    expect(heard.get(three)?.filter((text) => text !== 'the last')).toEqual(sent);
    expect(heard.get(one)).toEqual(['the last']);
  });

  test('do not reach those of another database', async () => {
    const [one, two] = [await open(), await open()];
    const elsewhere = await open(`${valkey.url}/1`);
    await Promise.all([listening(2), listening(1, 1)]);
    one.messages.send('here');
    await eventually(() => heard.get(two)?.length === 1);
    expect(heard.get(elsewhere)).toEqual([]);
  });

  test('are received again after Valkey was unavailable, and not sent in the meantime', async () => {
    const [one, two] = [await open(), await open()];
    await listening(2);
    await valkey.kill();
    await eventually(() => one.view.problem !== null);
    one.messages.send('meanwhile');
    await valkey.start();
    await Promise.all([listening(2), eventually(() => one.view.problem === null)]);
    one.messages.send('again');
    await eventually(() => heard.get(two)?.length === 1);
    expect(heard.get(two)).toEqual(['again']);
  });

  test('and limits need no more rights than the documentation names', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../../docs/team-limits.md'), 'utf8');
    const rights = [...page.matchAll(/`((?:~sluice:\*|\+time) [^`]*)`/g)].flatMap(([, listed = '']) =>
      listed.split(' '),
    );
    expect(rights).toContain('+zadd');
    await valkey.command('ACL', 'SETUSER', 'sluice', 'on', '>top-secret', ...rights);
    const url = valkey.url.replace('valkey://', 'valkey://sluice:top-secret@');
    const [one, two] = [await open(url), await open(url)];
    await listening(2);
    one.messages.send('hi');
    await eventually(() => heard.get(two)?.length === 1);
    const day = { unit: 'usd', amount: 5, per: 'day', hard: true };
    const subject = limited({ requestsPerMinute: 9, tokensPerMinute: 900, concurrent: 2, budgets: [day] });
    const admitted = await Promise.all([1, 2, 3].map(() => admits(one.limiter, [subject], exactly(none))));
    expect(admitted.filter(({ refusal }) => refusal === null)).toHaveLength(2);
    for (const { id } of admitted) finishAt(one, id, { usd: 0.1, tokens: 5 });
    await one.limiter.refresh([subject]);
    expect([one.view.problem, one.logged.filter(({ message }) => message.includes('Valkey'))]).toEqual([null, []]);
  });

  test('that the user may not exchange are logged once, and affect nothing else', async () => {
    await valkey.command('ACL', 'SETUSER', 'sluice', 'on', '>top-secret', '~*', '+@all', 'resetchannels');
    const replica = await open(valkey.url.replace('valkey://', 'valkey://sluice:top-secret@'));
    const warnings = () => replica.logged.filter(({ message }) => message.includes('+publish'));
    await eventually(() => warnings().length > 0);
    for (let count = 0; count < 5; count++) replica.messages.send('anything');
    await replica.limiter.refresh([limited({ concurrent: 1 })]);
    expect(warnings()).toHaveLength(1);
    expect(JSON.stringify(replica.logged)).not.toContain('top-secret');
    expect(replica.view.problem).toBeNull();
  });
});
