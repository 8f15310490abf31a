/** Who reads what was captured is in the audit list. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../../server/contract/people-views.ts';
import { createAuditReading } from '../../../../server/team/people/audit.ts';
import { hashOf } from '../../../support/gateway.ts';
import { admin, member, secretOf, signedIn } from './planted-team.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

describe('at a gateway where people sign in', () => {
  let team: SignInGateway;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    team = await startSignInGateway({
      config: {
        groups: [{ id: 'ours', capture: true }, { id: 'quiet' }],
        keys: ['ours', 'quiet'].map((group) => ({ id: group, group, hash: hashOf(secretOf(group)) })),
      },
      settings: { demo: 'on' },
    });
    for (const group of ['ours', 'quiet']) ids[group] = await send(group);
  });
  afterAll(() => team.stop());

  async function send(group: string): Promise<string> {
    const response = await fetch(`${team.sluice.origin}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'a private question' }] }),
      headers: { authorization: `Bearer ${secretOf(group)}`, 'content-type': 'application/json' },
    });
    await response.text();
    const id = response.headers.get('x-sluice-request-id') ?? '';
    await team.sluice.record(id);
    return id;
  }

  const query = async (who: { cookie?: string; token?: string }, body: object) =>
    (await (await team.call('/query', who, body)).json()).result;

  test.each(['a manager', 'the administrator of the machine'])('%s leaves one entry for a request', async (who) => {
    const isMachine = who !== 'a manager';
    const by = isMachine ? { token: team.sluice.adminToken } : { cookie: await team.signIn('mo') };
    const { capture } = await query(by, { type: 'request', id: ids.ours });
    expect(JSON.stringify(capture)).toContain('a private question');
    await query(by, { type: 'request-texts', ids: [ids.ours] });
    const { entries } = await query({ token: team.sluice.adminToken }, { type: 'audit' });
    const read = entries.filter(({ action }: AuditEntry) => action === 'request.read');
    const name = isMachine ? null : 'mo of Acme';
    expect(read.filter(({ personName }: AuditEntry) => personName === name)).toMatchObject([
      { target: ids.ours, tokenId: null, changes: [], ...(!isMachine && { address: '127.0.0.1' }) },
    ]);
    expect(JSON.stringify(read)).not.toContain('private');
  });

  test('what shows no capture leaves none', async () => {
    const by = { cookie: await team.signIn('ada') };
    for (const type of ['request', 'request-texts']) {
      await query(by, { type, ...(type === 'request' ? { id: ids.quiet } : { ids: [ids.quiet] }) });
    }
    await query(by, { type: 'requests' });
    expect((await (await team.call('/requests.jsonl', by)).text()).length).toBeGreaterThan(0);
    // A request of a group that the member does not see.
    await query({ cookie: await team.signIn('mia') }, { type: 'request', id: ids.quiet });
    const { entries } = await query(by, { type: 'audit' });
    expect(entries.filter(({ personName }: AuditEntry) => personName?.startsWith('ada'))).toMatchObject([
      { action: 'sign-in' },
    ]);
  });
});

describe('the entries of one reader', () => {
  let nowMs: number;
  let targets: (string | null)[];
  let problem: Error | null;
  let read: ReturnType<typeof createAuditReading>;
  beforeEach(() => {
    [nowMs, targets, problem] = [0, [], null];
    const note = async ({ target }: { target: string | null }) => {
      if (problem) throw problem;
      targets.push(target);
    };
    read = createAuditReading({ store: { note }, nowMs: () => nowMs });
  });

  test('are one a minute and request, and one for all requests that are read together', async () => {
    await Promise.all([read(['a', 'b'], undefined), read(['b', 'c'], undefined)]);
    expect(targets).toEqual(['a, b', 'c']);
    nowMs = 59_999;
    await read(['a', 'c'], undefined);
    expect(targets).toHaveLength(2);
    nowMs = 60_000;
    await read(['a'], undefined);
    expect(targets).toEqual(['a, b', 'c', 'a']);
  });

  test('are apart from those of others', async () => {
    await read(['a'], undefined);
    await read(['a'], signedIn(member));
    await read(['a'], { ...signedIn(admin), accessId: 'ses_2' });
    expect(targets).toEqual(['a', 'a', 'a']);
  });

  test('nothing is shown while none can be stored, also to whoever asks at the same time', async () => {
    problem = new Error('the disk is full');
    const both = await Promise.allSettled([read(['a'], undefined), read(['a'], undefined)]);
    for (const each of both) expect(each).toMatchObject({ reason: { code: 'storage_unavailable' } });
    problem = null;
    await read(['a'], undefined);
    expect(targets).toEqual(['a']);
  });
});
