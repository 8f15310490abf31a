/** Jobs, which a replay takes through the recorded states. */
import { expect, test } from 'vitest';
import { CassetteSuite } from '../../support/cassette-suite.ts';
import { mainProvider, type TestGateway } from '../../support/gateway.ts';
import { completion } from '../../support/strict-chat.ts';
import { json } from '../../support/upstream.ts';

const suite = new CassetteSuite().use();

test('a job is replayed through its states, and its content byte for byte', async () => {
  const content = Buffer.from([0, 255, 1, 254, 0xc3, 0x28]);
  const states = ['queued', 'in_progress', 'completed'];
  suite.upstream.answer(({ method, url }, response) => {
    if (url.endsWith('/content')) response.writeHead(200, { 'content-type': 'video/mp4' }).end(content);
    else
      json(response, {
        id: 'video_1',
        object: 'video',
        model: 'sora-2',
        status: method === 'POST' ? states[0] : states.shift(),
      });
  });
  const run = async (gateway: TestGateway) => {
    const created = await (
      await gateway.fetch('/videos', {
        method: 'POST',
        body: '{"model":"sora-2","prompt":"A fox"}',
        headers: { 'content-type': 'application/json' },
      })
    ).json();
    const seen = [];
    for (let index = 0; index < 3; index++)
      seen.push((await (await gateway.fetch(`/videos/${created.id}`)).json()).status);
    const bytes = Buffer.from(await (await gateway.fetch(`/videos/${created.id}/content`)).arrayBuffer());
    return { seen, bytes };
  };
  const recorded = await suite.open('record');
  const first = await run(recorded.gateway);
  await recorded.cassette.close();
  expect(first).toEqual({ seen: ['queued', 'in_progress', 'completed'], bytes: content });
  const { gateway } = await suite.open('replay');
  expect(await run(gateway)).toEqual(first);
});

const postJson = (gateway: TestGateway, path: string, body: object) =>
  gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The results of the steps while they are recorded and when they are replayed. */
async function recordAndReplay<Said>(run: (gateway: TestGateway) => Promise<Said>, provider: object = {}) {
  const providers = [mainProvider(suite.upstream.baseUrl, { ...provider })];
  const recorded = await suite.open('record', { providers });
  const first = await run(recorded.gateway);
  await recorded.cassette.close();
  const asked = suite.upstream.seen.length;
  const { gateway, cassette } = await suite.open('replay');
  const again = await run(gateway);
  expect(suite.upstream.seen).toHaveLength(asked);
  expect(cassette.summary).toMatchObject({ misses: 0, unused: [] });
  return { first, again };
}

test('a response in the background is replayed through its states', async () => {
  const states = ['queued', 'in_progress', 'completed'];
  suite.upstream.answer((_request, response) =>
    json(response, { id: 'resp_1', object: 'response', model: 'gpt-x', background: true, status: states.shift() }),
  );
  const { first, again } = await recordAndReplay(async (gateway) => {
    const created = await postJson(gateway, '/responses', { model: 'gpt-x', input: 'Hi', background: true });
    const seen: string[] = [(await created.json()).status];
    for (let index = 0; index < 2; index++) seen.push((await (await gateway.fetch('/responses/resp_1')).json()).status);
    return seen;
  });
  expect(first).toEqual(['queued', 'in_progress', 'completed']);
  expect(again).toEqual(first);
});

test('what Sluice answers itself is replayed, too: a response that it stores, a count of tokens', async () => {
  suite.upstream.answer((_request, response) => json(response, completion({ content: 'Hello' })));
  const run = async (gateway: TestGateway) => {
    const created = await (await postJson(gateway, '/responses', { model: 'gpt-x', input: 'Hi' })).json();
    const stored = await gateway.fetch(`/responses/${created.id}`);
    const messages = [{ role: 'user', content: 'How long is this?' }];
    const counted = await postJson(gateway, '/messages/count_tokens', { model: 'gpt-x', messages });
    return { created, stored: await stored.json(), counted: await counted.text() };
  };
  const { first, again } = await recordAndReplay(run, { serves: ['chat'] });
  expect(first.stored).toMatchObject({ id: first.created.id, status: 'completed' });
  expect(first.counted).toMatch(/"input_tokens":\d+/);
  expect(again).toEqual(first);
});
