/** Requests that need stored data wait for a store that is asynchronous, unlike SQLite. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { openLocalStore } from '../../../server/store/local-store.ts';
import type { KnownJobs } from '../../../server/store/ports/kept-stores.ts';
import type { Store, StoreOptions } from '../../../server/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import {
  hashOf,
  mainProvider,
  startGateway,
  type TestGateway,
  type TestPorts,
  testKey,
} from '../../support/gateway.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { bodyOf, completion, strictChat } from '../../support/strict-chat.ts';
import { answered } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

// The SQLite store, but asynchronous in all places where a database server would be.

async function later<T>(value: T | Promise<T>): Promise<T> {
  await setImmediate();
  return value;
}

async function openLaterStore(options: StoreOptions): Promise<Store> {
  const store = openLocalStore(options);
  const { ledger, jobs, keptResponses, reasoning, renewals } = store;
  const near = new Set<string>();
  return later({
    isShared: true,
    ledger: withMethods(ledger, {
      sessionStates: withMethods(ledger.sessionStates, {
        setStopped: async (id, stoppedAt) => later(ledger.sessionStates.setStopped(id, stoppedAt)),
        budgetUsedUsd: async (id) => later(ledger.sessionStates.budgetUsedUsd(id)),
      }),
      history: {
        spent: async (...question) => later(ledger.history.spent(...question)),
        requestsSince: async (...question) => later(ledger.history.requestsSince(...question)),
        forgetTotal: async (...question) => later(ledger.history.forgetTotal(...question)),
      },
    }),
    jobs: withMethods(jobs, {
      lookUp: async (ids, groupId) => onlyAbout(ids, await later(jobs.lookUp(ids, groupId))),
      owing: async () => later(jobs.owing()),
    }),
    keptResponses: withMethods(keptResponses, {
      find: async (id, groupId) => later(keptResponses.find(id, groupId)),
    }),
    reasoning: withMethods(reasoning, {
      async prefetch(keyId, callIds) {
        await setImmediate();
        for (const id of callIds) near.add(`${keyId} ${id}`);
      },
      find: (keyId, callIds) =>
        reasoning.find(
          keyId,
          callIds.filter((id) => near.has(`${keyId} ${id}`)),
        ),
    }),
    renewals,
    close: async () => later(store.close()),
  });
}

/** Only jobs that were looked up are known. */
function onlyAbout(ids: readonly string[], known: KnownJobs): KnownJobs {
  const check = (id: string) => {
    if (!ids.includes(id)) throw new Error(`${id} was not looked up`);
  };
  return {
    find(kind, id, groupId) {
      check(id);
      return known.find(kind, id, groupId);
    },
    findAny(id, groupId) {
      check(id);
      return known.findAny(id, groupId);
    },
  };
}

/** `target` with some methods replaced. All other members are its own, including private fields. */
function withMethods<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(object, name);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;

const otherKey = 'sk-of-another-group';

async function open(
  provider: ReturnType<typeof mainProvider>,
  group: { passthrough?: string } = {},
  openStore: TestPorts['openStore'] = openLaterStore,
): Promise<void> {
  const keys = [
    { id: 'k1', group: 'default', hash: hashOf(testKey) },
    { id: 'k2', group: 'other', hash: hashOf(otherKey) },
  ];
  gateway = await stopLater(
    startGateway({
      config: { providers: [provider], groups: ['default', 'other'].map((id) => ({ id, ...group })), keys },
      ports: { openStore },
    }),
  );
}

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
});

test('a job is looked up before it is asked about, and is not another group’s', async () => {
  upstream.answer((_request, response) => json(response, { object: 'video', id: 'video_1', status: 'queued' }));
  await open(mainProvider(upstream.baseUrl));
  const { client } = gateway;
  await client.videos.create({ model: 'sora-2', prompt: 'A film' });
  expect(await client.videos.retrieve('video_1')).toMatchObject({ id: 'video_1' });
  const asOther = client.withOptions({ apiKey: otherKey });
  await expect(asOther.videos.retrieve('video_1')).rejects.toMatchObject({ status: 404 });
  await client.videos.delete('video_1');
  await expect(client.videos.retrieve('video_1')).rejects.toMatchObject({ status: 404 });
});

test('an object that was uploaded leads to its account, and is not another group’s', async () => {
  upstream.answer((_request, response) => json(response, { object: 'file', id: 'file-1' }));
  await open(mainProvider(upstream.baseUrl), { passthrough: 'main' });
  const { client } = gateway;
  await client.files.create({ file: new File(['text'], 'a.txt'), purpose: 'user_data' });
  expect(await client.files.retrieve('file-1')).toMatchObject({ id: 'file-1' });
  const asOther = client.withOptions({ apiKey: otherKey });
  await expect(asOther.files.retrieve('file-1')).rejects.toMatchObject({ status: 404 });
});

test('a response made by translation is continued, referred to, retrieved and deleted', async () => {
  upstream.answer(
    strictChat((body, response) => json(response, completion({ content: `Answer to ${lengthOf(body.messages)}` }))),
  );
  await open(mainProvider(upstream.baseUrl, { serves: ['chat'] }));
  const { client } = gateway;
  const first = await client.responses.create({ model: 'gpt-x', input: 'Hi' });
  const dialogue = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Answer to 1' },
    { role: 'user', content: 'And now?' },
  ];
  await client.responses.create({ model: 'gpt-x', input: 'And now?', previous_response_id: first.id });
  expect(lastMessages()).toEqual(dialogue);
  const reference = { type: 'item_reference' as const, id: first.output[0]?.id ?? '' };
  const input = [{ role: 'user' as const, content: 'Hi' }, reference, { role: 'user' as const, content: 'And now?' }];
  await client.responses.create({ model: 'gpt-x', input });
  expect(lastMessages()).toEqual(dialogue);
  expect(await client.responses.retrieve(first.id)).toMatchObject({ id: first.id });
  await client.responses.delete(first.id);
  await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
});

test('reasoning that a client cannot carry is read before the conversation is translated', async () => {
  const seal = Buffer.from('sealed').toString('base64');
  const called = answered([{ functionCall: { name: 'look', args: {} }, thoughtSignature: seal }]);
  upstream.answer((_request, response) => json(response, called));
  await open(mainProvider(`${upstream.origin}/v1beta`, { dialect: 'gemini' }));
  const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
  const ask = (messages: object[]) =>
    gateway.client.chat.completions.create({ model: 'gemini-3-pro', messages: messages as never, tools });
  const first = await ask([{ role: 'user', content: 'Look' }]);
  const [call] = first.choices[0]?.message.tool_calls ?? [];
  if (call?.type !== 'function') throw new Error('no call');
  const { id, type, function: asked } = call;
  await ask([
    { role: 'user', content: 'Look' },
    { role: 'assistant', tool_calls: [{ id, type, function: { name: asked.name, arguments: asked.arguments } }] },
    { role: 'tool', tool_call_id: id, content: 'seen' },
  ]);
  expect(upstream.seen.at(-1)?.body.toString()).toContain(seal);
});

test('a session is stopped once that is stored', async () => {
  upstream.answer((_request, response) => json(response, completion({ content: 'Hi' })));
  await open(mainProvider(upstream.baseUrl));
  const { execute } = gateway.gateway;
  await expect(execute({ type: 'session.stop', id: 'ses_0123456789abcdef' })).rejects.toMatchObject({
    code: 'not_found',
  });
  const headers = { 'x-session-id': 'one' };
  const ask = () =>
    gateway.client.chat.completions.create(
      { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] },
      { headers },
    );
  await ask();
  const id = (await gateway.record()).session?.id ?? '';
  await execute({ type: 'session.stop', id });
  await expect(ask()).rejects.toMatchObject({ code: 'session_stopped' });
});

const lengthOf = (messages: unknown) => (Array.isArray(messages) ? messages.length : 0);

function lastMessages(): unknown {
  const seen = upstream.seen.at(-1);
  return seen && bodyOf(seen).messages;
}

test('the id of what was made reaches the client once that is stored', async () => {
  upstream.answer(({ url }, response) =>
    url === '/v1/videos'
      ? json(response, { object: 'video', id: 'video_1', status: 'queued' })
      : json(response, completion({ content: 'hi' })),
  );
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  await open(mainProvider(upstream.baseUrl, { serves: ['chat'] }), {}, (options) => {
    const local = openLocalStore(options);
    return {
      ...local,
      jobs: withMethods(local.jobs, { remember: () => stored }),
      keptResponses: withMethods(local.keptResponses, { keep: () => stored }),
    };
  });
  const answers = [
    gateway.client.videos.create({ model: 'sora-2', prompt: 'A film' }),
    gateway.client.responses.create({ model: 'gpt-x', input: 'hi' }),
    gateway.client.responses.stream({ model: 'gpt-x', input: 'hi' }).finalResponse(),
  ];
  const first = await Promise.race([...answers, eventually(() => upstream.seen.length === 3).then(() => 'asked')]);
  expect(first).toBe('asked');
  // A chat stores nothing, and is answered in the meantime.
  await gateway.client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content: 'hi' }] });
  expect(await Promise.race([...answers, 'still waiting'])).toBe('still waiting');
  store();
  for (const answer of answers) expect((await answer).id).toBeTruthy();
});
