/** The AI SDK's providers of each API, each with an upstream of each API. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answeringProviders, type Reply } from '../../support/answering-providers.ts';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { eventStream, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const greeting = 'Hello there';
const report = 'Take an umbrella to Köln.';
const weather: Record<string, string> = { Köln: 'Rain until noon', Bonn: 'Sun all day', Trier: 'Fog at dawn' };
const answer = { places: ['Köln', 'Bonn'] };

/**
 * Replies with two concurrent calls, another call after their results, and a report at the end. Without tools, replies
 * with a greeting or with the content that the schema asks for.
 */
function reply(body: Json): Reply {
  const asked = JSON.stringify(body);
  if (/places\\*"/.test(asked)) return jsonReply(asked);
  if (!asked.includes('The weather of a place')) return { text: greeting };
  if (asked.includes('Fog at dawn')) return { text: report };
  const call = (place: string) => ({ name: 'weather', given: { place } });
  if (asked.includes('Sun all day')) return { thought: 'And Trier?', calls: [call('Trier')] };
  return { thought: 'Two places.', calls: [call('Köln'), call('Bonn')] };
}

/** Replies through the tool that a client, or Sluice on its behalf, offers instead of a response format. */
function jsonReply(asked: string): Reply {
  const [, name] = /"name":"(json|respond|answer)"/.exec(asked) ?? [];
  return name === undefined || asked.includes('"json_schema"')
    ? { text: JSON.stringify(answer) }
    : { thought: 'As asked.', calls: [{ name, given: answer }] };
}

let gateway: TestGateway;
const upstreams: Record<string, ScriptedUpstream> = {};

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { model, config, basePath, secret }] of Object.entries(answeringProviders)) {
    const upstream = await startUpstream();
    upstreams[id] = upstream;
    providers.push(mainProvider(upstream.origin + basePath, { id, models: [model], ...config }));
    secrets[`provider/${id}/c1`] = secret;
  }
  const groups = [{ id: 'default', policy: { retries: 0, fallbacks: 0 } }];
  gateway = await startGateway({ config: { groups, providers }, secrets });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.seen.length = 0;
});

const apiKey = testKey;
const clients: Record<string, (model: string) => LanguageModel> = {
  chat: (model) => createOpenAI({ baseURL: gateway.baseUrl, apiKey }).chat(model),
  responses: (model) => createOpenAI({ baseURL: gateway.baseUrl, apiKey }).responses(model),
  anthropic: (model) => createAnthropic({ baseURL: gateway.baseUrl, apiKey })(model),
  google: (model) => createGoogle({ baseURL: `${gateway.origin}/v1beta`, apiKey })(model),
};

function weatherTool(asked: string[]) {
  const schema = { type: 'object' as const, properties: { place: { type: 'string' as const } }, required: ['place'] };
  return tool({
    description: 'The weather of a place',
    inputSchema: jsonSchema<{ place: string }>(schema),
    execute: async ({ place }) => {
      asked.push(place);
      return weather[place] ?? 'Nobody knows';
    },
  });
}

const places = jsonSchema<typeof answer>({
  type: 'object',
  properties: { places: { type: 'array', items: { type: 'string' } } },
  required: ['places'],
  additionalProperties: false,
});
const picture = Buffer.from('a picture').toString('base64');

describe.each(Object.entries(clients))('%s of the AI SDK', (client, open) => {
  describe.each(Object.entries(answeringProviders))('in front of %s', (id, { model: name, script, sealOf }) => {
    const upstream = () => upstreams[id] ?? expect.unreachable();
    const sent = () => upstream().seen.map(({ body }) => body.toString());
    beforeEach(() => upstream().answer(script(reply)));
    // The AI SDK's chat client returns no reasoning, and untranslated requests are passed on unchanged.
    const seal = client === 'chat' && id === 'chat' ? '' : sealOf('Two places.');
    // With the Responses API it returns names of items stored there, but this provider stores none. For the other APIs,
    // Sluice stores them.
    const openai = client === 'responses' && id === 'responses' ? { store: false } : {};
    const asked = () => ({
      model: open(name),
      providerOptions: { openai },
      maxRetries: 0,
      prompt: 'How is the weather?',
    });

    test('gets an answer with its usage', async () => {
      const { text, usage, finishReason } = await generateText(asked());
      expect([text, finishReason]).toEqual([greeting, 'stop']);
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(usage.inputTokens).toBeGreaterThan(0);
    });

    test('gets a stream', async () => {
      const pieces: string[] = [];
      for await (const piece of streamText(asked()).textStream) pieces.push(piece);
      expect(pieces.join('')).toBe(greeting);
    });

    test('uses tools over three turns, two of them at once', async () => {
      const places: string[] = [];
      const tools = { weather: weatherTool(places) };
      const { text } = await generateText({ ...asked(), tools, stopWhen: stepCountIs(5) });
      expect([places, text]).toEqual([['Köln', 'Bonn', 'Trier'], report]);
      expect(sent()).toHaveLength(3);
      expect(sent()[1]).toContain(seal);
    });

    test('uses tools in streams', async () => {
      const places: string[] = [];
      const tools = { weather: weatherTool(places) };
      const { text } = streamText({ ...asked(), tools, stopWhen: stepCountIs(5) });
      expect([await text, places]).toEqual([report, ['Köln', 'Bonn', 'Trier']]);
      expect(sent()[1]).toContain(seal);
    });

    test('gets structured output that matches its schema', async () => {
      const { output } = await generateText({ ...asked(), output: Output.object({ schema: places, name: 'answer' }) });
      expect(output).toEqual(answer);
    });

    test('sends an image to the model', async () => {
      // It writes a `detail` only if told to (vercel/ai#20300), without which vLLM refuses an image, and so this provider.
      const isAsIs = client === 'responses' && id === 'responses';
      const providerOptions = isAsIs ? { openai: { imageDetail: 'auto' } } : {};
      const file = { type: 'file' as const, data: picture, mediaType: 'image/png', providerOptions };
      const content = [{ type: 'text' as const, text: 'What is it?' }, file];
      await generateText({ model: open(name), maxRetries: 0, messages: [{ role: 'user', content }] });
      expect(sent()[0]).toContain(picture);
    });

    test('gets an error for an unknown model', async () => {
      const failing = generateText({ ...asked(), model: open(`${id}-unknown`) });
      await expect(failing).rejects.toMatchObject({ statusCode: 404, message: expect.stringContaining('-unknown') });
    });

    test('cancels the provider’s request when it disconnects', async () => {
      const leaving = new AbortController();
      const stopped = new Promise<void>((resolve) => {
        upstream().answer((_request, response) => {
          eventStream(response);
          response.write(': begun\n\n');
          response.once('close', resolve);
          leaving.abort();
        });
      });
      const { text } = streamText({ ...asked(), abortSignal: leaving.signal, onError: () => {} });
      await expect(text).rejects.toThrow();
      await stopped;
    });
  });
});
