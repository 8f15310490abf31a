/** OpenAI's routes for images and audio are not translated, so only providers of OpenAI's dialects are asked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import { base } from './client-routes.ts';

let foreign: ScriptedUpstream;
let openai: ScriptedUpstream;
let gateway: TestGateway;

const models = {
  gemini: 'gemini-3.1-flash-image',
  vertex: 'imagen-4.0-generate-001',
  bedrock: 'stability.stable-image-core-v1:1',
  anthropic: 'claude-opus-5',
};
type Dialect = keyof typeof models;
const dialects = Object.keys(models) as Dialect[];

beforeAll(async () => {
  [foreign, openai] = await Promise.all([startUpstream(), startUpstream()]);
  const bases: Partial<Record<Dialect, string>> = { vertex: base, gemini: '/v1beta', anthropic: '/v1' };
  const providers = dialects.map((dialect) =>
    mainProvider(foreign.origin + (bases[dialect] ?? ''), { id: dialect, dialect, models: [models[dialect]] }),
  );
  gateway = await startGateway({
    config: {
      providers: [mainProvider(`${openai.origin}/v1`, { models: ['media-model'] }), ...providers],
      aliases: dialects.map((dialect) => ({
        name: `${dialect}-then-openai`,
        targets: [
          { provider: dialect, model: models[dialect] },
          { provider: 'main', model: 'media-model' },
        ],
      })),
    },
    secrets: Object.fromEntries(dialects.map((dialect) => [`provider/${dialect}/c1`, 'secret'])),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([foreign.stop(), openai.stop()]);
});
beforeEach(() => {
  for (const { seen } of [foreign, openai]) seen.length = 0;
});

function asJson(fields: Record<string, string>): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) };
}

function asForm(fields: Record<string, string>, file: string): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set(file, new Blob(['a file']), 'talk.mp3');
  return { method: 'POST', body };
}

const requests: Record<string, (model: string) => RequestInit> = {
  '/images/generations': (model) => asJson({ model, prompt: 'A cat' }),
  '/images/edits': (model) => asForm({ model, prompt: 'A hat' }, 'image'),
  '/images/variations': (model) => asForm({ model }, 'image'),
  '/audio/speech': (model) => asJson({ model, input: 'Hello', voice: 'alloy' }),
  '/audio/transcriptions': (model) => asForm({ model }, 'file'),
  '/audio/translations': (model) => asForm({ model }, 'file'),
};

describe.each(Object.entries(requests))('%s', (path, request) => {
  test.each(dialects)('with a model of %s is refused in a sentence that says what to do', async (dialect) => {
    const response = await gateway.fetch(path, request(models[dialect]));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        code: 'model_not_found',
        param: 'model',
        message: expect.stringMatching(
          `"${dialect}" cannot serve /v1${path}: .*Ask for a model of a provider whose API has this route`,
        ),
      },
    });
    expect(foreign.seen).toEqual([]);
  });

  test.each(dialects)('goes to the target of an alias that has it, past one of %s', async (dialect) => {
    openai.answer((_request, response) => json(response, { created: 1, data: [{ b64_json: 'aGk=' }], text: 'Hi' }));
    await (await gateway.fetch(path, request(`${dialect}-then-openai`))).arrayBuffer();
    expect(openai.seen.map(({ url }) => url)).toEqual([`/v1${path}`]);
    expect(foreign.seen).toEqual([]);
  });
});
