/** A deletion that worked is a success, whatever the provider writes into its answer, and is not tried a second time. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type Answer = (response: ServerResponse) => void;
const text = (body: string, status = 200, type = 'application/json'): Answer => {
  return (response) => response.writeHead(status, { 'content-type': type }).end(body);
};

const answers: Record<string, { status: number; body: string; answer: Answer }> = {
  'an empty object': { status: 200, body: '{}', answer: text('{}') },
  nothing: { status: 200, body: '', answer: text('') },
  'nothing, without a type': { status: 200, body: '', answer: (response) => response.writeHead(200).end() },
  null: { status: 200, body: 'null', answer: text('null') },
  true: { status: 200, body: 'true', answer: text('true') },
  'half a JSON': { status: 200, body: '{"deleted":', answer: text('{"deleted":') },
  'status 202': { status: 202, body: '', answer: text('', 202) },
  'status 204': { status: 204, body: '', answer: (response) => response.writeHead(204).end() },
  'status 205': { status: 205, body: '', answer: (response) => response.writeHead(205).end() },
  'a text': { status: 200, body: 'Deleted.', answer: text('Deleted.', 200, 'text/plain') },
  'a page': { status: 200, body: '<html>', answer: text('<html>', 200, 'text/html') },
  'what says that it failed': {
    status: 200,
    body: '{"error":{"message":"No."}}',
    answer: text('{"error":{"message":"No."}}'),
  },
};

/** What is created, and where it is deleted. */
const objects: Record<string, { create: string; body: object; made: object; path: string }> = {
  'a response': {
    create: '/responses',
    body: { model: 'gpt-x', input: 'Hi' },
    made: { id: 'ID', object: 'response', status: 'completed', output: [{ type: 'message', content: [] }] },
    path: '/responses/ID',
  },
  'a video': {
    create: '/videos',
    body: { model: 'gpt-x', prompt: 'A cat.' },
    made: { id: 'ID', object: 'video', status: 'completed', model: 'gpt-x' },
    path: '/videos/ID',
  },
  ...Object.fromEntries(
    ['files', 'conversations', 'containers', 'vector_stores', 'assistants', 'batches'].map((kind) => [
      kind,
      { create: `/${kind}`, body: {}, made: { id: 'ID', object: kind }, path: `/${kind}/ID` },
    ]),
  ),
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let made: object = {};
let answer: Answer = text('{}');
let ids = 0;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    if (request.method === 'DELETE') answer(response);
    else json(response, made);
  });
  gateway = await startGateway({
    config: { providers: [mainProvider(upstream.baseUrl)], groups: [{ id: 'default', passthrough: 'main' }] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => gateway.gateway.execute({ type: 'provider.reset-health', id: 'main' }));

/** Returns the path of the new object. */
async function create(name: string): Promise<string> {
  const object = objects[name];
  if (!object) throw new Error(`There is no ${name}.`);
  const id = `obj_${++ids}`;
  made = { ...object.made, id };
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(object.body) };
  expect((await gateway.fetch(object.create, init)).status).toBe(200);
  upstream.seen.length = 0;
  return object.path.replace('ID', id);
}

const remove = (path: string) => gateway.fetch(path, { method: 'DELETE' });

describe.each(Object.keys(objects))('the deletion of %s succeeds', (name) => {
  test.each(Object.entries(answers))('with %s', async (_how, { status, body, answer: given }) => {
    const path = await create(name);
    answer = given;
    const response = await remove(path);
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(upstream.seen.map(({ method }) => method)).toEqual(['DELETE']);
  });
});

test.each(['a response', 'a video'])('afterwards Sluice does not know %s any more', async (name) => {
  const path = await create(name);
  answer = text('{}');
  await remove(path);
  expect([(await remove(path)).status, upstream.seen.length]).toEqual([404, 1]);
});

test("OpenAI's client deletes a response", async () => {
  const path = await create('a response');
  answer = text('');
  const id = path.split('/').at(-1) ?? '';
  await expect(gateway.client.responses.delete(id)).resolves.not.toThrow();
  expect(upstream.seen).toHaveLength(1);
});

const losses: Record<string, Answer> = {
  'a server error': text('{"error":{"message":"No."}}', 500),
  'a reset': (response) => response.socket?.resetAndDestroy(),
};

test.each(Object.entries(losses))('a deletion that may have worked is not repeated, after %s', async (_how, lost) => {
  const path = await create('a response');
  const gone = text('{"error":{"message":"No response with this id."}}', 404);
  const answersInOrder = [lost, gone];
  answer = (response) => answersInOrder.shift()?.(response);
  expect((await remove(path)).status).toBeGreaterThanOrEqual(500);
  expect(upstream.seen).toHaveLength(1);
});

test('a deletion that was refused is tried again', async () => {
  const path = await create('a response');
  const answersInOrder = [text('{"error":{"message":"Busy."}}', 503), text('{}')];
  answer = (response) => answersInOrder.shift()?.(response);
  expect((await remove(path)).status).toBe(200);
  expect(upstream.seen).toHaveLength(2);
});
