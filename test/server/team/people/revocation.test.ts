/** Access that three replicas accepted is refused by all of them once one of them has revoked it. */
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stretched } from '../../../support/cpu-work.ts';
import { begun, eventually } from '../../../support/eventually.ts';
import { hashOf } from '../../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { chunk, completion } from '../../../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { type ReplicatedTeam, type Shown, startReplicatedTeam } from './replicated-team.ts';

const all = [0, 1, 2];
/** Within this time, a revocation at one replica must take effect at the others. */
const soonMs = 1_000;

describe.runIf(hasPostgres())('of three replicas', () => {
  const server = startPostgresInSuite();
  let upstream: ScriptedUpstream;
  let team: ReplicatedTeam;
  let ada: Shown;
  beforeAll(async () => {
    upstream = await startUpstream();
    const keys = ['stolen', 'streaming', 'unheard'].map((id) => ({ id, group: 'ours', hash: hashOf(secretOf(id)) }));
    team = await startReplicatedTeam({
      url: await server.createDatabase(),
      count: all.length,
      config: () => ({
        providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }],
        groups: [{ id: 'ours' }],
        keys,
      }),
    });
    ada = { cookie: await team.signIn('ada') };
  });
  afterAll(async () => {
    await team?.stop();
    await upstream?.stop();
  });

  const secretOf = (key: string) => `sk-test-${key}`;
  const statusesOf = (who: Shown) =>
    Promise.all(all.map(async (replica) => (await team.call(replica, '/query', who, { type: 'who-am-i' })).status));
  const modelsWith = (key: string) => modelsBy(secretOf(key));
  const modelsBy = async (secret: string) =>
    Promise.all(
      team.replicas.map(async ({ baseUrl }) => {
        const headers = { authorization: `Bearer ${secret}` };
        return (await fetch(`${baseUrl}/models`, { headers })).status;
      }),
    );

  const cutListeners = () =>
    server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()",
    );

  /**
   * Opens event streams at all replicas, revokes the access at one, and checks that all replicas refuse it and have
   * ended its streams.
   */
  async function expectEnded(who: Shown, end: () => Promise<unknown>): Promise<void> {
    expect(await statusesOf(who)).toEqual([200, 200, 200]);
    const streams = await Promise.all(all.map((replica) => team.call(replica, '/events', who)));
    const ends = begun(Promise.all(streams.map((stream) => stream.text())));
    await end();
    const endedMs = performance.now();
    expect(await statusesOf(who)).toEqual([401, 401, 401]);
    await ends;
    expect(performance.now() - endedMs).toBeLessThan(stretched(soonMs));
  }

  test('all refuse a session that was signed out at one', async () => {
    const mia = { cookie: await team.signIn('mia') };
    await expectEnded(mia, () => team.call(0, '/sign-out', mia, {}));
  });

  test('all refuse the sessions of a person whom an administrator signs out at one', async () => {
    const mia = { cookie: await team.signIn('mia') };
    const { person } = (await team.ask(1, mia, { type: 'who-am-i' })) as { person: { id: string } };
    await expectEnded(mia, () => team.ask(1, ada, { type: 'person.sign-out', ...{ id: person.id } }));
  });

  test('all refuse an API token that was revoked at one', async () => {
    const mia = { cookie: await team.signIn('mia') };
    const token = { type: 'token.create', name: 'pipeline', scopes: ['read'] };
    const { id, secret } = (await team.ask(0, mia, token)) as { id: string; secret: string };
    await expectEnded({ token: secret }, () => team.ask(2, mia, { type: 'token.revoke', ...{ id } }));
    expect(await statusesOf(mia)).toEqual([200, 200, 200]);
  });

  test('all end the streams of a session within a second also if the database has just cut what they hear by', async () => {
    const mia = { cookie: await team.signIn('mia') };
    await expectEnded(mia, async () => {
      await cutListeners();
      await team.call(0, '/sign-out', mia, {});
    });
  });

  test('all refuse a person as soon as the roles name them no more', async () => {
    const mo = { cookie: await team.signIn('mo') };
    const status = (await team.ask(0, ada, { type: 'status' })) as { settings: { people: { roles: object[] } } };
    const { people } = status.settings;
    const roles = people.roles.filter((role) => !('role' in role && role.role === 'manager'));
    const put = (changes: object) => team.ask(0, ada, { type: 'settings.update', ...{ changes } });
    expect(await statusesOf(mo)).toEqual([200, 200, 200]);
    await put({ people: { ...people, roles } });
    await expectSoon(async () => (await statusesOf(mo)).every((code) => code === 401));
    await put({ people });
  });

  test('all refuse a key that was removed at one', async () => {
    expect(await modelsWith('stolen')).toEqual([200, 200, 200]);
    await team.ask(0, ada, { type: 'key.revoke', ...{ id: 'stolen' } });
    await expectSoon(async () => (await modelsWith('stolen')).every((code) => code === 401));
  });

  test('all refuse a removed key also if the database has just cut the connections by which they hear of it', async () => {
    expect(await modelsWith('unheard')).toEqual([200, 200, 200]);
    await cutListeners();
    await team.ask(0, ada, { type: 'key.revoke', ...{ id: 'unheard' } });
    await expectSoon(async () => (await modelsWith('unheard')).every((code) => code === 401));
  });

  test('a stream that runs goes on to its end after its key was removed, and the next request is refused', async () => {
    const running = Promise.withResolvers<ServerResponse>();
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'The beginning' }));
      running.resolve(response);
    });
    const client = new OpenAI({
      baseURL: team.replicas[1]?.baseUrl ?? '',
      apiKey: secretOf('streaming'),
      maxRetries: 0,
    });
    const ask = () => client.chat.completions.create({ model: 'gpt-x', messages: [], stream: true });
    const stream = await ask();
    const upstreamResponse = await running.promise;
    await team.ask(0, ada, { type: 'key.revoke', ...{ id: 'streaming' } });
    await expectSoon(async () => (await modelsWith('streaming')).every((code) => code === 401));
    upstreamResponse.end(`${chunk({ content: ' and the end' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('The beginning and the end');
    upstream.answer((_request, response) => json(response, {}));
    await expect(ask()).rejects.toMatchObject({ status: 401 });
  });

  test('a person whose access is revoked at one has no session, token or key at any, whatever else changes meanwhile', async () => {
    const mia = { cookie: await team.signIn('mia') };
    const create = (replica: number) =>
      team.ask(replica, mia, { type: 'key.create', ...{ group: 'ours', keepSecret: false } });
    const made = (await Promise.all([create(0), create(0)])) as { secret: string; key: { owner: string } }[];
    const { secret: token } = (await team.ask(0, mia, {
      type: 'token.create',
      ...{ name: 'pipeline', scopes: ['write'] },
    })) as { secret: string };
    const owner = made[0]?.key.owner ?? '';
    const statuses = () => Promise.all(made.map(({ secret }) => modelsBy(secret)));
    await expectSoon(async () => (await statuses()).flat().every((code) => code === 200));
    const sessions = [{ cookie: mia.cookie }, { token }];
    const late = begun(Promise.allSettled(all.map(create)));
    await team.ask(1, ada, { type: 'person.revoke', ...{ id: owner } });
    await late;
    await expectSoon(async () => (await statuses()).flat().every((code) => code === 401));
    for (const who of sessions) expect(await statusesOf(who)).toEqual([401, 401, 401]);
    const keys = (await team.ask(2, ada, { type: 'keys' })) as { owner: string | null }[];
    expect(keys.filter((key) => key.owner === owner)).toEqual([]);
  });

  test('a stream that runs at another replica is ended with the access of its person if the administrator wants that', async () => {
    const { people } = ((await team.ask(0, ada, { type: 'status' })) as { settings: { people: object } }).settings;
    const put = (changes: object) => team.ask(0, ada, { type: 'settings.update', ...{ changes } });
    await put({ people: { ...people, requestsOfRevokedKeys: 'end' } });
    const mia = { cookie: await team.signIn('mia') };
    const made = await team.ask(0, mia, { type: 'key.create', ...{ group: 'ours', keepSecret: false } });
    const { secret, key } = made as { secret: string; key: { owner: string } };
    await expectSoon(async () => (await modelsBy(secret)).every((code) => code === 200));
    const running = Promise.withResolvers<ServerResponse>();
    upstream.answer((_request, response) => {
      eventStream(response);
      response.write(chunk({ content: 'The beginning' }));
      running.resolve(response);
    });
    const client = new OpenAI({ baseURL: team.replicas[1]?.baseUrl ?? '', apiKey: secret, maxRetries: 0 });
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages: [], stream: true });
    const upstreamResponse = await running.promise;
    const upstreamClosed = new Promise((resolve) => upstreamResponse.on('close', resolve));
    const read = begun(
      (async () => {
        for await (const _ of stream);
      })(),
    );
    await team.ask(2, ada, { type: 'person.revoke', ...{ id: key.owner, keys: 'disable' } });
    const revokedMs = performance.now();
    await expect(read).rejects.toThrow(`Key "${(key as unknown as { id: string }).id}" was revoked or disabled`);
    await upstreamClosed;
    expect(performance.now() - revokedMs).toBeLessThan(stretched(soonMs));
    await put({ people });
  });

  async function expectSoon(look: () => Promise<boolean>): Promise<void> {
    const beganMs = performance.now();
    await eventually(look);
    expect(performance.now() - beganMs).toBeLessThan(stretched(soonMs));
  }
});

describe.runIf(hasPostgres() && hasValkey())('of three replicas whose counter is away', () => {
  const server = startPostgresInSuite();
  let counter: ValkeyServer;
  let upstream: ScriptedUpstream;
  let team: ReplicatedTeam;
  beforeAll(async () => {
    counter = await startValkey();
    upstream = await startUpstream((_request, response) => json(response, completion({ content: 'Hello' })));
    team = await startReplicatedTeam({
      url: await server.createDatabase(),
      count: all.length,
      counter: counter.url,
      config: () => ({
        providers: [{ id: 'main', baseUrl: upstream.baseUrl, models: ['gpt-x'] }],
        groups: [{ id: 'ours', limits: { requestsPerMinute: 1_000 } }],
      }),
    });
  });
  afterAll(async () => {
    await team?.stop();
    await upstream?.stop();
    await counter?.stop();
  });

  /** How each replica answers a request with the key, which the counter would have to admit, and one with the token. */
  const statuses = (key: string, token: string) =>
    Promise.all(
      team.replicas.map(async ({ baseUrl }, replica) => {
        const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] });
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const asked = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
        await asked.text();
        return [asked.status, (await team.call(replica, '/query', { token }, { type: 'who-am-i' })).status];
      }),
    );

  test.each<[string, () => void | Promise<void>]>([
    ['silent', () => counter.pause()],
    ['stopped', () => counter.kill()],
  ])('all refuse the keys, API tokens and sessions of a person within five seconds: %s', async (_how, away) => {
    const ada = { cookie: await team.signIn('ada') };
    const mia = { cookie: await team.signIn('mia') };
    const make = (what: { type: string }) => team.ask(0, mia, what) as Promise<{ secret: string }>;
    const { secret: key } = await make({ type: 'key.create', ...{ group: 'ours', keepSecret: false } });
    const { secret: token } = await make({ type: 'token.create', ...{ name: 'pipeline', scopes: ['read'] } });
    await eventually(async () => (await statuses(key, token)).flat().every((code) => code === 200));
    const { person } = (await team.ask(0, mia, { type: 'who-am-i' })) as { person: { id: string } };
    await away();
    const beganMs = performance.now();
    await team.ask(1, ada, { type: 'person.revoke', ...{ id: person.id } });
    await eventually(async () => (await statuses(key, token)).flat().every((code) => code === 401));
    expect(performance.now() - beganMs).toBeLessThan(stretched(5_000));
    for (const replica of all) expect((await team.call(replica, '/query', mia, { type: 'who-am-i' })).status).toBe(401);
    counter.go();
  });
});
