/**
 * What a member can see of another group through routes other than queries: exports, events, metrics, the API itself.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf } from '../../../support/gateway.ts';
import { marker, secretOf } from './planted-team.ts';
import { type SignInGateway, startSignInGateway } from './signed-in.ts';

let team: SignInGateway;
let cookie: string;
beforeAll(async () => {
  team = await startSignInGateway({
    config: {
      groups: [{ id: 'ours' }, { id: marker, capture: true }],
      keys: [`${marker}-key`, 'service'].map((id) => ({
        ...{ id, group: id === 'service' ? 'ours' : marker, hash: hashOf(secretOf(id)) },
      })),
    },
    settings: { demo: 'on', metrics: 'on' },
  });
  for (const id of ['service', `${marker}-key`]) await send(id);
  cookie = await team.signIn('mia');
});
afterAll(() => team.stop());

async function send(key: string): Promise<void> {
  const response = await fetch(`${team.sluice.origin}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: `hello from ${key}` }] }),
    headers: { authorization: `Bearer ${secretOf(key)}`, 'content-type': 'application/json', 'user-agent': key },
  });
  await response.text();
  await team.sluice.record(response.headers.get('x-sluice-request-id') ?? '');
}

test.each(['/requests.csv', '/requests.jsonl', `/requests.csv?groupId=${marker}`])(
  'a member exports nothing of another group by %s, while an administrator does',
  async (path) => {
    const mine = await team.call(path, { cookie });
    expect(mine.status).toBe(200);
    expect(await mine.text()).not.toMatch(new RegExp(`${marker}|service`));
    const all = await (await team.call(path, { cookie: await team.signIn('ada') })).text();
    expect(all).toContain(`${marker}-key`);
  },
);

test('a manager exports the requests of the own group', async () => {
  const text = await (await team.call('/requests.csv', { cookie: await team.signIn('mo') })).text();
  expect([text.includes('service'), text.includes(marker)]).toEqual([true, false]);
});

test('a session opens neither the metrics nor the API', async () => {
  const headers = { cookie };
  expect((await fetch(`${team.sluice.origin}/metrics`, { headers })).ok).toBe(false);
  expect((await fetch(`${team.sluice.origin}/v1/models`, { headers })).status).toBe(401);
});
