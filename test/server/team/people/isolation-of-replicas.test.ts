/**
 * What people and keys of one group can see of another group, at a replica other than that where it was created: by
 * every command, query, route and event of the control plane, and by every API route that names an object.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiRoutes } from '../../../../server/apis/openai/routes.ts';
import type { CommandType } from '../../../../server/contract/commands.ts';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import type { QueryType } from '../../../../server/contract/queries.ts';
import { eventually } from '../../../support/eventually.ts';
import { hashOf } from '../../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { bodyOf, completion } from '../../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { commands, eventsAreOf, queries } from './matrix-cases.ts';
import { marker, type Names, secretOf } from './planted-team.ts';
import { type ReplicatedTeam, type Shown, startReplicatedTeam } from './replicated-team.ts';

/** Two replicas. At the first one, another group has created one object of each kind. */

interface PlantedReplicas extends ReplicatedTeam {
  upstream: ScriptedUpstream;
  /** Names of the other group's objects. */
  theirs: Names;
  /** Ids of objects that the other group has created through the API. */
  made: Record<'video' | 'character' | 'file' | 'response', string>;
  /** A call below `/v1` with the key with this id. */
  send(replica: number, key: string, path: string, init?: RequestInit): Promise<Response>;
}

/** `url` is the address of an empty database. */
async function startPlantedReplicas(url: string): Promise<PlantedReplicas> {
  const upstream = await startUpstream();
  answerAll(upstream);
  const team = await startReplicatedTeam({
    url,
    count: 2,
    config: (personId) => configAt(upstream.baseUrl, personId('mia')),
  });
  const send: PlantedReplicas['send'] = (replica, key, path, init) =>
    fetch(`${team.replicas[replica]?.baseUrl}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${secretOf(key)}`,
        'user-agent': `agent-of-${key}`,
        'x-sluice-session': `session-of-${key}`,
        ...(typeof init?.body === 'string' && { 'content-type': 'application/json' }),
      },
    });
  const made = await makeAll(send);
  await Promise.all(['own', 'service'].map((key) => chat(send, key)));
  return {
    ...team,
    ...{ upstream, send, made, theirs: await namesOf(team, send) },
    async stop() {
      await team.stop();
      await upstream.stop();
    },
  };
}

function configAt(baseUrl: string, owner: string): Omit<ConfigInput, 'version'> {
  const limits = {
    concurrent: 100,
    budgets: [{ unit: 'tokens' as const, amount: 10, per: 'day' as const, hard: false }],
  };
  const key = (id: string, group: string, more = {}) => ({
    id,
    name: id,
    group,
    hash: hashOf(secretOf(id)),
    limits,
    ...more,
  });
  return {
    // A request of the other group costs 21 dollars.
    settings: { sessionBudget: { notifyAtUsd: 30 }, prices: { [`${marker}-model`]: { input: 1_000_000, output: 0 } } },
    providers: [
      { id: 'main', baseUrl, models: ['gpt-x'], serves: ['chat'] },
      { id: `${marker}-provider`, baseUrl, models: [`${marker}-model`], serves: ['chat'] },
    ],
    aliases: [{ name: `${marker}-alias`, targets: [{ provider: `${marker}-provider`, model: `${marker}-model` }] }],
    groups: [
      { id: 'ours', providers: ['main'], passthrough: 'main', limits },
      { id: marker, name: `all of ${marker}`, passthrough: 'main', capture: true, cache: {}, limits },
    ],
    keys: [
      key('own', 'ours', { owner }),
      key('service', 'ours'),
      key(`${marker}-key`, marker),
      key(`${marker}-more`, marker),
    ],
  };
}

/** Every request about an object is answered with the other group's marker. */
function answerAll(upstream: ScriptedUpstream): void {
  let made = 0;
  upstream.answer((request, response) => {
    const { method, url } = request;
    const [, object = ''] = /^\/v1\/(\w+)/.exec(url) ?? [];
    if (object === 'chat') {
      const { messages } = bodyOf(request) as { messages: { content: string }[] };
      return json(response, completion({ content: `answer to ${messages.at(-1)?.content}` }));
    }
    const id = method === 'POST' ? `${object}_${++made}` : url.split('/')[3];
    json(response, { id, object, status: 'completed', prompt: `of ${marker}`, filename: marker });
  });
}

function chat(send: PlantedReplicas['send'], key: string, replica = 0): Promise<Response> {
  const body = { model: 'gpt-x', messages: [{ role: 'user', content: `hello from ${key}` }] };
  return send(replica, key, '/chat/completions', { method: 'POST', body: JSON.stringify(body) });
}

async function makeAll(send: PlantedReplicas['send']): Promise<PlantedReplicas['made']> {
  const make = async (path: string, body: object | FormData) => {
    const sent = body instanceof FormData ? body : JSON.stringify(body);
    const reply = await send(0, `${marker}-key`, path, { method: 'POST', body: sent });
    const { id } = (await reply.json()) as { id?: string };
    if (id === undefined) throw new Error(`${path} made nothing: ${reply.status}`);
    return id;
  };
  const form = (fields: Record<string, string | File>) => {
    const made = new FormData();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  };
  const file = new File(['text'], `${marker}.txt`);
  return {
    video: await make('/videos', { model: 'gpt-x', prompt: marker }),
    character: await make(
      '/videos/characters',
      form({ model: 'gpt-x', name: marker, video: new File(['film'], 'a.mp4') }),
    ),
    file: await make('/files', form({ purpose: 'user_data', file })),
    response: await make('/responses', { model: 'gpt-x', input: `question of ${marker}` }),
  };
}

/** Also sends requests to both replicas, and creates an API token and an entry in the audit list. */
async function namesOf(team: ReplicatedTeam, send: PlantedReplicas['send']): Promise<Names> {
  const boss = { cookie: await team.signIn(`${marker}-boss`) };
  const scopes = ['read', 'keys', 'write'];
  const token = (await team.ask(0, boss, { type: 'token.create', ...{ name: `pipeline of ${marker}`, scopes } })) as {
    id: string;
  };
  await team.ask(0, boss, { type: 'key.update', ...{ id: `${marker}-more`, changes: { name: `renamed ${marker}` } } });
  const { person } = (await team.ask(0, boss, { type: 'who-am-i' })) as { person: { id: string } };
  const replies = [await chat(send, `${marker}-key`), await chat(send, `${marker}-key`, 1)];
  for (const replica of [0, 1]) {
    await team.ask(replica, boss, { type: 'capture.start', ...{ group: marker } });
    await team.ask(replica, boss, { type: 'faults.start', ...{ group: marker, profile: 'slow', minutes: 10 } });
  }
  const request = replies[0]?.headers.get('x-sluice-request-id') ?? '';
  const session = await eventually(async () => {
    const found = (await team.ask(1, boss, { type: 'request', ...{ id: request } }).catch(() => null)) as {
      request: { session: { id: string } | null };
    } | null;
    return found?.request.session?.id ?? null;
  });
  return {
    ...{ group: marker, key: `${marker}-key`, request, session, token: token.id, person: person.id },
    ...{ provider: `${marker}-provider`, alias: `${marker}-alias` },
  };
}

const other = 1;

describe.runIf(hasPostgres())('at another replica', () => {
  const server = startPostgresInSuite();
  let team: PlantedReplicas;
  const shown = new Map<string, Shown>();
  beforeAll(async () => {
    team = await startPlantedReplicas(await server.createDatabase());
    const mia = { cookie: await team.signIn('mia') };
    const scopes = ['read', 'keys', 'write'];
    const made = (await team.ask(0, mia, { type: 'token.create', ...{ name: 'all', scopes } })) as { secret: string };
    shown.set('a member', mia);
    shown.set('a member’s API token', { token: made.secret });
    shown.set('a manager', { cookie: await team.signIn('mo') });
  });
  afterAll(() => team?.stop());

  const who = (name: string) => shown.get(name) ?? {};

  describe.each(['a member', 'a member’s API token', 'a manager'])('%s', (name) => {
    test.each(Object.keys(queries) as QueryType[])('learns nothing of another group by the query %s', async (type) => {
      for (const query of queries[type](team.theirs)) {
        const response = await team.call(other, '/query', who(name), query);
        expect([200, 403, 404], JSON.stringify(query)).toContain(response.status);
        expect(withoutAsked(await response.text(), query)).not.toContain(marker);
      }
    });

    test.each(Object.keys(commands) as CommandType[])('changes nothing of another group by %s', async (type) => {
      for (const command of commands[type](team.theirs)) {
        const response = await team.call(other, '/execute', who(name), command);
        expect([403, 404], JSON.stringify(command)).toContain(response.status);
        expect(withoutAsked(await response.text(), command)).not.toContain(marker);
      }
    });
  });

  /** Checks that the marker can be found at all, so that not finding it proves something. */
  test('an administrator finds all that was planted', async () => {
    const ada = { cookie: await team.signIn('ada') };
    const types = ['keys', 'groups', 'providers', 'aliases', 'requests', 'sessions', 'tokens', 'people', 'audit'];
    for (const type of [...types, 'config', 'status']) {
      expect(JSON.stringify(await team.ask(other, ada, { type })), type).toContain(marker);
    }
    const { capture } = (await team.ask(other, ada, { type: 'request', ...{ id: team.theirs.request } })) as {
      capture: unknown;
    };
    expect(JSON.stringify(capture)).toContain(`hello from ${marker}`);
  });

  /**
   * Every route except `/execute`, `/query` and `/events`. Those to the identity provider return nothing about groups.
   */
  const controlRoutes: Record<string, { body?: object } | null> = {
    'get /session': {},
    'get /sign-in': {},
    'get /signed-in': {},
    'post /sign-out': null,
    'post /backchannel-logout': null,
    'post /device': { body: {} },
    'post /device/token': { body: { deviceCode: 'any', name: 'any' } },
    'post /execute': null,
    'post /query': null,
    'get /events': null,
    'get /requests.csv': {},
    'get /requests.jsonl': {},
    'post /{*path}': null,
  };

  test('no route of the control plane tells of another group, and none is without a case', async () => {
    const folder = join(import.meta.dirname, '../../../../server');
    const sources = ['http/control-routes.ts', 'team/people/sign-in-routes.ts'].map((file) =>
      readFileSync(join(folder, file), 'utf8'),
    );
    const declared = [...sources.join('\n').matchAll(/outer(?:\(\))?\.(get|post|put|patch|delete)\(\s*'([^']+)'/g)];
    expect(declared.map(([, method, path]) => `${method} ${path}`).sort()).toEqual(Object.keys(controlRoutes).sort());
    for (const [route, request] of Object.entries(controlRoutes)) {
      if (request === null) continue;
      const [, path = ''] = route.split(' ');
      for (const query of ['', `?groupId=${marker}`, `?keyId=${marker}-key`, `?search=${marker}`]) {
        for (const name of shown.keys()) {
          const response = await team.call(other, path + query, who(name), request.body);
          expect((await response.text()).replaceAll(query, ''), `${route}${query}`).not.toContain(marker);
        }
      }
    }
    expect(await (await team.call(other, '/requests.csv', who('a manager'))).text()).toContain('service');
  });

  test('people hear nothing of another group, whatever happens there', async () => {
    const ada = { cookie: await team.signIn('ada') };
    const listening = await Promise.all([ada, ...shown.values()].map((each) => team.call(other, '/events', each)));
    const [all, ...rest] = listening.map((stream) => new Heard(stream));
    const told = Object.entries(eventsAreOf).flatMap(([type, of]) => (of === 'group' ? [`"type":"${type}"`] : []));
    // Signed in once, because sign-ins are limited and many rounds may be needed.
    const authors = { ada, boss: { cookie: await team.signIn(`${marker}-boss`) } };
    await happenAll(0, authors);
    let heard = '';
    let last = '';
    // Some events arrive later, such as the usage of a limit.
    for (let round = 0; !told.every((type) => heard.includes(type)); round++) {
      await happenAll(other, authors);
      last = `round ${round}`;
      await team.ask(other, ada, { type: 'group.put', ...{ group: { id: 'ours', name: last } } });
      heard = (await all?.until(last)) ?? '';
    }
    expect(heard).toContain(marker);
    // A change is refused if the previous one is not known yet.
    await eventually(async () => JSON.stringify(await team.ask(0, ada, { type: 'groups' })).includes(`"${last}"`));
    const group = { id: 'ours', providers: ['main'], passthrough: 'main', name: 'the last change' };
    await team.ask(0, ada, { type: 'group.put', ...{ group } });
    for (const each of rest) {
      const text = await each.until('the last change');
      expect(text).toContain('"type":"snapshot"');
      expect(text).not.toContain(marker);
    }
  });

  /** Causes every event that belongs to a group. */
  async function happenAll(replica: number, { ada, boss }: Record<'ada' | 'boss', Shown>): Promise<void> {
    const budgets = [{ unit: 'tokens', amount: 1, per: 'day', hard: false }];
    const made = await team.ask(replica, boss, {
      type: 'key.create',
      ...{ group: marker, name: `${marker} ${replica}`, keepSecret: false, limits: { budgets } },
    });
    const { secret } = made as { secret: string };
    await team.ask(replica, boss, { type: 'faults.stop', ...{ group: marker } });
    // A session's cost is read while its first request runs, so that request may not be counted yet.
    let id = '';
    for (let request = 0; request < 4; request++) id = await chatIn(replica, secret, boss);
    await team.ask(replica, boss, { type: 'request.pin', ...{ id, note: marker } });
    await team.ask(replica, boss, { type: 'capture.start', ...{ group: marker } });
    await team.ask(replica, ada, { type: 'provider.reset-health', ...{ id: `${marker}-provider` } });
  }

  /** Resolves with its id once the request is recorded. */
  async function chatIn(replica: number, secret: string, boss: Shown): Promise<string> {
    const reply = await fetch(`${team.replicas[replica]?.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: `${marker}-model`, messages: [{ role: 'user', content: marker }] }),
      headers: { authorization: `Bearer ${secret}`, 'x-sluice-session': `session of ${marker}` },
    });
    await reply.text();
    expect(reply.status).toBe(200);
    const id = reply.headers.get('x-sluice-request-id') ?? '';
    await eventually(() => team.ask(replica, boss, { type: 'request', ...{ id } }).then(Boolean, () => false));
    return id;
  }

  test('no route of the API shows or changes what another group has made, and none is without a case', async () => {
    const before = team.upstream.seen.length;
    const named = openaiRoutes.filter(({ path }) => path.includes('/:id'));
    for (const { method, path, job } of named) {
      const id = team.made[job?.kind ?? 'video'];
      const body = { prompt: 'Mine' };
      for (const replica of [0, other]) {
        const response = await team.send(replica, 'own', path.replace(':id', id), {
          method,
          ...(method === 'POST' && { body: JSON.stringify(body) }),
        });
        expect([400, 404], `${method} ${path}`).toContain(response.status);
        expect(await response.text()).not.toContain(marker);
      }
    }
    expect(team.upstream.seen.length).toBe(before);
  });

  test('a key follows no file, stored response, conversation or model of another group', async () => {
    const { video, character, file, response } = team.made;
    const asked: [string, object?][] = [
      [`/files/${file}`],
      [`/files/${file}/content`],
      ['/batches', { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' }],
      ['/responses', { model: 'gpt-x', input: 'And?', previous_response_id: response }],
      ['/videos'],
      ['/videos/edits', { video: { id: video }, prompt: 'Mine' }],
      ['/videos/extensions', { video: { id: video }, prompt: 'Mine' }],
      [`/videos/characters/${character}`],
      ['/models'],
      [`/models/${marker}-model`],
      ['/usage'],
      ['/chat/completions', { model: `${marker}-alias`, messages: [] }],
      ['/chat/completions', { model: `${marker}-provider/${marker}-model`, messages: [] }],
    ];
    const before = team.upstream.seen.length;
    for (const [path, body] of asked) {
      const reply = await team.send(other, 'own', path, body && { method: 'POST', body: JSON.stringify(body) });
      const isList = ['/models', '/usage'].includes(path);
      expect(isList ? [200] : [400, 404, 405], `${path}: ${reply.status}`).toContain(reply.status);
      expect(withoutAsked(await reply.text(), { path, body })).not.toContain(marker);
    }
    expect(team.upstream.seen.length).toBe(before);
    // Its own group finds the objects there.
    for (const path of [`/files/${file}`, `/responses/${response}`, `/videos/${team.made.video}`]) {
      expect((await team.send(other, `${marker}-key`, path)).status, path).toBe(200);
    }
  });

  function withoutAsked(text: string, asked: object): string {
    const written = JSON.stringify(asked);
    const given = Object.values(team.theirs).filter((each) => written.includes(each));
    return given.reduce((rest, each) => rest.replaceAll(each, ''), text);
  }
});

/** The text received from an event stream. */
class Heard {
  readonly #pieces: AsyncIterator<string>;
  #text = '';

  constructor({ body }: Response) {
    if (!body) throw new Error('there is no stream');
    this.#pieces = body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  }

  /** The whole text, once it contains these words. */
  async until(words: string): Promise<string> {
    while (!this.#text.includes(words)) {
      const { value, done } = await this.#pieces.next();
      if (done) throw new Error(`The stream ended without ${words}`);
      this.#text += value;
    }
    return this.#text;
  }
}
