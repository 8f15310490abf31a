/** Two replicas. At the first one, another group has created one object of each kind. */
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { hashOf } from '../../../support/gateway.ts';
import { bodyOf, completion } from '../../../support/strict-chat.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../../support/upstream.ts';
import { marker, type Names, secretOf } from './planted-team.ts';
import { type ReplicatedTeam, startReplicatedTeam } from './replicated-team.ts';

export interface PlantedReplicas extends ReplicatedTeam {
  upstream: ScriptedUpstream;
  /** Names of the other group's objects. */
  theirs: Names;
  /** Ids of objects that the other group has created through the API. */
  made: Record<'video' | 'character' | 'file' | 'response', string>;
  /** A call below `/v1` with the key with this id. */
  send(replica: number, key: string, path: string, init?: RequestInit): Promise<Response>;
}

/** `url` is the address of an empty database. */
export async function startPlantedReplicas(url: string): Promise<PlantedReplicas> {
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
