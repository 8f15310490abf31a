import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConfigInput } from '../../../server/contract/config.ts';
import { hashOf, startGateway, type TestGateway, type TestGatewayOptions, testKey } from '../../support/gateway.ts';
import { eventStream, json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';
import { responseObject } from './streams.ts';

let one: ScriptedUpstream;
let two: ScriptedUpstream;
let folder: string;
let gateway: TestGateway;

const otherKey = 'sk-other-key-0123456789';

const secrets = {
  'provider/one/a': 'secret-one-a',
  'provider/one/b': 'secret-one-b',
  'provider/two/a': 'secret-two-a',
  'provider/two/b': 'secret-two-b',
};

function config(more: Partial<ConfigInput> = {}): Partial<ConfigInput> {
  const credentials = [{ id: 'a' }, { id: 'b' }];
  return {
    providers: [
      { id: 'one', baseUrl: one.baseUrl, credentials, models: ['video-one', 'chat-one'] },
      { id: 'two', baseUrl: two.baseUrl, credentials, models: ['video-two', 'chat-two'] },
    ],
    groups: [{ id: 'default', name: 'Team' }, { id: 'other' }],
    keys: [
      { id: 'k1', group: 'default', hash: hashOf(testKey) },
      { id: 'k2', group: 'other', hash: hashOf(otherKey) },
    ],
    ...more,
  };
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-jobs-'));
  one = await startUpstream(serve('one'));
  two = await startUpstream(serve('two'));
  gateway = await startGateway({ folder, config: config(), secrets });
});
afterEach(async () => {
  await gateway.stop();
  await one.stop();
  await two.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function restart(options: TestGatewayOptions = {}): Promise<void> {
  await gateway.stop();
  gateway = await startGateway({ folder, config: config(), secrets, ...options });
}

/** Creates videos and responses with distinct ids, and answers all requests about them. */
function serve(name: string) {
  let made = 0;
  return (request: SeenRequest, response: Parameters<typeof json>[0]) => {
    const { method, url } = request;
    const last = decodeURIComponent(/\/(?:videos|responses)\/([^/?]+)/.exec(url)?.[1] ?? '');
    const body =
      method === 'POST' && request.headers['content-type'] === 'application/json' ? request.body.toString() : '';
    if (url.endsWith('/content')) response.writeHead(200, { 'content-type': 'video/mp4' }).end(`film of ${name}`);
    else if (method === 'DELETE') json(response, { id: last, deleted: true });
    else if (url.startsWith('/v1/videos') && method === 'POST') json(response, video(`video_${name}_${++made}`, last));
    else if (url.startsWith('/v1/videos')) json(response, { ...video(last), status: 'completed' });
    else if (body.includes('"stream":true')) streamResponse(response, `resp_${name}_${++made}`);
    else json(response, responseObject('completed', { id: last || `resp_${name}_${++made}` }));
  };
}

const video = (id: string, from = '') => ({
  object: 'video',
  id,
  status: 'queued',
  seconds: '4',
  remixed_from_video_id: from || null,
});

function streamResponse(response: Parameters<typeof json>[0], id: string): void {
  eventStream(response);
  for (const [number, type] of ['response.created', 'response.completed'].entries()) {
    const event = { type, sequence_number: number, response: responseObject('completed', { id }) };
    response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

const makeVideo = (model: string) => gateway.client.videos.create({ model, prompt: 'A cat', seconds: '4' });
const last = (upstream: ScriptedUpstream) => {
  const seen = upstream.seen.at(-1);
  return `${seen?.headers.authorization} ${seen?.method} ${seen?.url}`;
};
const bodyAt = (upstream: ScriptedUpstream) => JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');

describe('a video', () => {
  async function expectReached(id: string, upstream: ScriptedUpstream, secret: string): Promise<void> {
    const { videos } = gateway.client;
    expect((await videos.retrieve(id)).id).toBe(id);
    expect(last(upstream)).toBe(`Bearer ${secret} GET /v1/videos/${id}`);
    expect(await (await videos.downloadContent(id)).text()).toMatch(/^film of/);
    expect(last(upstream)).toBe(`Bearer ${secret} GET /v1/videos/${id}/content`);
    const remix = await videos.remix(id, { prompt: 'Rain' });
    expect(remix.remixed_from_video_id).toBe(id);
    expect(last(upstream)).toBe(`Bearer ${secret} POST /v1/videos/${id}/remix`);
    await videos.retrieve(remix.id);
    expect(last(upstream)).toBe(`Bearer ${secret} GET /v1/videos/${remix.id}`);
  }

  test('is followed at the provider and credential that made it', async () => {
    const first = await makeVideo('video-one');
    const second = await makeVideo('video-two');
    await expectReached(first.id, one, 'secret-one-a');
    await expectReached(second.id, two, 'secret-two-a');
  });

  test('is followed after a restart, with other credentials in front', async () => {
    const { id } = await makeVideo('video-two');
    const credentials = [{ id: 'b' }, { id: 'a' }];
    const { providers = [] } = config();
    await restart({ config: config({ providers: providers.map((provider) => ({ ...provider, credentials })) }) });
    await expectReached(id, two, 'secret-two-a');
    expect((await makeVideo('video-two')).id).not.toBe(id);
    expect(last(two)).toBe('Bearer secret-two-b POST /v1/videos');
  });

  test('is followed with the new secret after its credential was rotated', async () => {
    const { id } = await makeVideo('video-one');
    await restart({ secrets: { ...secrets, 'provider/one/a': 'rotated' } });
    await expectReached(id, one, 'rotated');
  });

  test('is followed after its group got another name, and a new key', async () => {
    const { id } = await makeVideo('video-one');
    const newKey = 'sk-brand-new-key-0123456789';
    await restart({
      config: config({
        groups: [{ id: 'default', name: 'Another name' }],
        keys: [{ id: 'k9', group: 'default', hash: hashOf(newKey) }],
      }),
    });
    gateway.client.apiKey = newKey;
    await expectReached(id, one, 'secret-one-a');
  });

  test('is not there for another group, whatever it asks', async () => {
    const { id } = await makeVideo('video-one');
    const other = gateway.client.withOptions({ apiKey: otherKey });
    const before = one.seen.length;
    await expect(other.videos.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(other.videos.downloadContent(id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(other.videos.remix(id, { prompt: 'x' })).rejects.toThrow(OpenAI.NotFoundError);
    await expect(other.videos.delete(id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(other.videos.list()).rejects.toMatchObject({ status: 405 });
    expect(one.seen).toHaveLength(before);
    expect((await gateway.client.videos.retrieve(id)).id).toBe(id);
  });

  test('is gone once it was deleted, also after a restart', async () => {
    const { id } = await makeVideo('video-one');
    await gateway.client.videos.delete(id);
    expect(last(one)).toBe(`Bearer secret-one-a DELETE /v1/videos/${id}`);
    await restart();
    await expect(gateway.client.videos.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('is gone too when its deletion is answered without a body', async () => {
    const { id } = await makeVideo('video-one');
    one.answer((_request, response) => void response.writeHead(204).end());
    await gateway.fetch(`/videos/${id}`, { method: 'DELETE' });
    await expect(gateway.client.videos.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('whose deletion failed is still there', async () => {
    const { id } = await makeVideo('video-one');
    one.answer((_request, response) => json(response, { error: { message: 'later' } }, 500));
    await expect(gateway.client.videos.delete(id)).rejects.toThrow(OpenAI.InternalServerError);
    one.answer(serve('one'));
    expect((await gateway.client.videos.retrieve(id)).id).toBe(id);
  });

  test('that could not be made is no job', async () => {
    one.answer((_request, response) => json(response, { error: { message: 'no' }, id: 'video_never' }, 400));
    await expect(makeVideo('video-one')).rejects.toThrow(OpenAI.BadRequestError);
    await expect(gateway.client.videos.retrieve('video_never')).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('whose provider is switched off, or no longer there, is 503', async () => {
    const { id } = await makeVideo('video-one');
    const { providers = [] } = config();
    await restart({ config: config({ providers: providers.map((provider) => ({ ...provider, enabled: false })) }) });
    const options = { maxRetries: 0 };
    await expect(gateway.client.videos.retrieve(id, options)).rejects.toMatchObject({ code: 'no_healthy_provider' });
    await restart({ config: config({ providers: providers.slice(1) }) });
    await expect(gateway.client.videos.retrieve(id, options)).rejects.toMatchObject({ code: 'no_healthy_provider' });
  });

  test('has a price, and so do its remix and the remix of that', async () => {
    await restart({ config: config({ settings: { prices: { 'video-one': { second: 0.25 } } } }) });
    const costOf = async (response: Response) =>
      (await gateway.record(response.headers.get('x-request-id') ?? '')).costUsd;
    const { videos } = gateway.client;
    const made = await videos.create({ model: 'video-one', prompt: 'A cat' }).withResponse();
    expect(await costOf(made.response)).toBe(1);
    const remix = await videos.remix(made.data.id, { prompt: 'Rain' }).withResponse();
    expect(await costOf(remix.response)).toBe(1);
    const again = await videos.remix(remix.data.id, { prompt: 'Snow' }).withResponse();
    expect(await costOf(again.response)).toBe(1);
    const other = await videos.create({ model: 'video-two', prompt: 'A cat' }).withResponse();
    expect(await costOf(other.response)).toBeNull();
  });

  test('is charged by its seconds once, when it is made, and so is a remix', async () => {
    const { data, response } = await gateway.client.videos
      .create({ model: 'video-one', prompt: 'A cat', seconds: '8' })
      .withResponse();
    const record = await gateway.record(response.headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({
      usage: { seconds: 4 },
      usageCertainty: 'reported',
      provider: 'one',
      credential: 'a',
    });
    const asked = await gateway.client.videos.retrieve(data.id).withResponse();
    const later = await gateway.record(asked.response.headers.get('x-request-id') ?? '');
    expect(later).toMatchObject({ usage: null, usageCertainty: 'none', modelAsked: 'video-one', provider: 'one' });
    const remixed = await gateway.client.videos.remix(data.id, { prompt: 'x' }).withResponse();
    const remix = await gateway.record(remixed.response.headers.get('x-request-id') ?? '');
    expect(remix).toMatchObject({ usage: { seconds: 4 }, route: '/v1/videos/{id}/remix' });
  });
});

describe('edits, extensions and characters, which are passed through', () => {
  const passing = () =>
    restart({ config: config({ groups: ['default', 'other'].map((id) => ({ id, passthrough: 'one' })) }) });
  const send = (path: string, body: object, key = testKey) =>
    gateway.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });

  test.each(['edits', 'extensions'])('a video is followed by the account that made it through %s', async (path) => {
    await passing();
    const { id } = await makeVideo('video-two');
    const made = await send(`/videos/${path}`, { video: { id }, prompt: 'Rain' });
    expect([made.status, last(two)]).toEqual([200, `Bearer secret-two-a POST /v1/videos/${path}`]);
    const { id: newId } = await made.json();
    expect((await gateway.client.videos.retrieve(newId)).id).toBe(newId);
    expect(last(two)).toBe(`Bearer secret-two-a GET /v1/videos/${newId}`);
    expect(await (await gateway.client.videos.downloadContent(newId)).text()).toBe('film of two');
    await gateway.client.videos.remix(newId, { prompt: 'Snow' });
    expect(last(two)).toBe(`Bearer secret-two-a POST /v1/videos/${newId}/remix`);
    const other = gateway.client.withOptions({ apiKey: otherKey });
    await expect(other.videos.retrieve(newId)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test.each(['edits', 'extensions'])('the video of another group is not changed by %s', async (path) => {
    await passing();
    const { id } = await gateway.client.withOptions({ apiKey: otherKey }).videos.create({
      model: 'video-one',
      prompt: 'x',
    });
    const seen = one.seen.length;
    for (const video of [{ id }, id]) {
      expect((await send(`/videos/${path}`, { video, prompt: 'x' })).status).toBe(404);
    }
    expect(one.seen).toHaveLength(seen);
  });

  test('a character stays where it was made', async () => {
    await passing();
    const body = new FormData();
    body.set('name', 'Ann');
    body.set('video', new File(['film'], 'film.mp4'));
    const made = await gateway.fetch('/videos/characters', { method: 'POST', body });
    expect(last(one)).toBe('Bearer secret-one-a POST /v1/videos/characters');
    const { id } = await made.json();
    expect((await gateway.fetch(`/videos/characters/${id}`)).status).toBe(200);
    expect(last(one)).toBe(`Bearer secret-one-a GET /v1/videos/characters/${id}`);
    const asOther = { headers: { authorization: `Bearer ${otherKey}` } };
    expect((await gateway.fetch(`/videos/characters/${id}`, asOther)).status).toBe(404);
  });

  test.each(['/videos/edits', '/videos/extensions', '/videos/characters'])(
    '%s is refused where the group has no passthrough provider, naming the setting',
    async (path) => {
      const refused = await send(path, { video: { id: 'video_1' }, prompt: 'x' });
      expect(refused.status).toBe(405);
      expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('--passthrough') } });
      expect([...one.seen, ...two.seen]).toEqual([]);
    },
  );

  test('the list of videos, which would show those of other groups, is refused with the reason', async () => {
    await passing();
    const refused = await gateway.fetch('/videos?limit=2');
    expect(refused.status).toBe(405);
    const message = expect.stringMatching(/Not allowed to GET on \/v1\/videos.*keep the id of each video/);
    expect(await refused.json()).toMatchObject({ error: { code: 'method_not_allowed', message } });
    expect([...one.seen, ...two.seen]).toEqual([]);
  });
});

describe('a stored response', () => {
  const ask = (model: string, more: object = {}) =>
    gateway.client.responses.create({ model, input: 'Hi', ...more }) as Promise<OpenAI.Responses.Response>;

  test('is continued at the provider and credential that store it, also after a restart', async () => {
    const first = await ask('chat-two');
    const credentials = [{ id: 'b' }, { id: 'a' }];
    const { providers = [] } = config();
    await restart({ config: config({ providers: providers.map((provider) => ({ ...provider, credentials })) }) });
    const second = await ask('chat-two', { previous_response_id: first.id });
    expect(last(two)).toBe('Bearer secret-two-a POST /v1/responses');
    await ask('chat-two', { previous_response_id: second.id });
    expect(last(two)).toBe('Bearer secret-two-a POST /v1/responses');
    await ask('chat-two');
    expect(last(two)).toBe('Bearer secret-two-b POST /v1/responses');
  });

  test('is reached by retrieve, cancel, input items and delete', async () => {
    const { id } = await ask('chat-two');
    const { responses } = gateway.client;
    await responses.retrieve(id);
    expect(last(two)).toBe(`Bearer secret-two-a GET /v1/responses/${id}`);
    await responses.cancel(id);
    expect(last(two)).toBe(`Bearer secret-two-a POST /v1/responses/${id}/cancel`);
    await gateway.fetch(`/responses/${id}/input_items?limit=3`);
    expect(last(two)).toBe(`Bearer secret-two-a GET /v1/responses/${id}/input_items?limit=3`);
    await responses.delete(id);
    expect(last(two)).toBe(`Bearer secret-two-a DELETE /v1/responses/${id}`);
    await expect(responses.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(ask('chat-two', { previous_response_id: id })).rejects.toMatchObject({
      code: 'previous_response_not_found',
    });
  });

  test('is known from the first event of its stream', async () => {
    const stream = await gateway.client.responses.create({ model: 'chat-one', input: 'Hi', stream: true });
    for await (const event of stream) {
      if (event.type === 'response.created')
        expect((await gateway.client.responses.retrieve(event.response.id)).id).toBe(event.response.id);
    }
    expect(last(one)).toMatch(/GET \/v1\/responses\/resp_one_/);
  });

  test('that was not to be stored is not remembered', async () => {
    const { id } = await ask('chat-one', { store: false });
    const before = one.seen.length;
    await expect(gateway.client.responses.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
    expect(one.seen).toHaveLength(before);
  });

  test('of another group cannot be continued', async () => {
    const { id } = await ask('chat-one');
    const other = gateway.client.withOptions({ apiKey: otherKey });
    await expect(other.responses.create({ model: 'chat-one', previous_response_id: id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    });
    await expect(other.responses.cancel(id)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(other.responses.delete(id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('is continued under the alias that made it', async () => {
    await restart({
      config: config({ aliases: [{ name: 'smart', targets: [{ provider: 'two', model: 'chat-two' }] }] }),
    });
    const { id } = await ask('smart');
    await ask('smart', { previous_response_id: id });
    expect(bodyAt(two)).toMatchObject({ model: 'chat-two', previous_response_id: id });
  });

  test('is continued with its own model if an alias leads elsewhere now', async () => {
    const { id } = await ask('chat-two');
    await restart({
      config: config({ aliases: [{ name: 'smart', targets: [{ provider: 'one', model: 'chat-one' }] }] }),
    });
    await ask('smart', { previous_response_id: id });
    expect(bodyAt(two)).toMatchObject({ model: 'chat-two', previous_response_id: id });
  });

  test('is continued without a model at its owner, who chooses', async () => {
    const { id } = await ask('chat-two');
    const body = JSON.stringify({ previous_response_id: id, input: 'And?' });
    expect((await gateway.fetch('/responses', { method: 'POST', body })).status).toBe(200);
    expect(last(two)).toBe('Bearer secret-two-a POST /v1/responses');
    expect(bodyAt(two)).toEqual(JSON.parse(body));
  });

  test('is continued without a model with the group’s default, or not at all if its models are limited', async () => {
    const { id } = await ask('chat-two');
    const goOn = () =>
      gateway.fetch('/responses', { method: 'POST', body: JSON.stringify({ previous_response_id: id }) });
    await restart({
      config: config({ groups: [{ id: 'default', defaults: { responses: 'chat-two' } }, { id: 'other' }] }),
    });
    expect((await goOn()).status).toBe(200);
    expect(bodyAt(two)).toEqual({ model: 'chat-two', previous_response_id: id });
    await restart({ config: config({ groups: [{ id: 'default', models: ['chat-*'] }, { id: 'other' }] }) });
    expect((await goOn()).status).toBe(400);
  });

  test('is not continued at a provider that the group may not use any more', async () => {
    const { id } = await ask('chat-two');
    await restart({ config: config({ groups: [{ id: 'default', providers: ['one'] }, { id: 'other' }] }) });
    const before = two.seen.length;
    await expect(ask('chat-one', { previous_response_id: id })).rejects.toMatchObject({ code: 'no_healthy_provider' });
    expect(two.seen).toHaveLength(before);
  });
});
