/** Faults on purpose in the timing, the content and the calls of an answer, as the official clients report them. */
import Anthropic from '@anthropic-ai/sdk';
import { type FunctionDeclaration, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testKey } from '../../support/gateway.ts';
import { callArguments, clients, question, startTalks, type Talk, type Talks, words } from './faulty-talks.ts';

let talks: Talks;

beforeAll(async () => {
  talks = await startTalks();
});
afterAll(() => talks.stop());
afterEach(() => talks.gateway.gateway.execute({ type: 'faults.stop' }));

const whole = words.join('');

/** Runs the same conversation with all clients concurrently. */
const all = (options: Parameters<Talk>[1]) =>
  Promise.all(Object.values(clients).map((talk) => talk(talks.gateway, options)));

const openaiClient = () => new OpenAI({ baseURL: talks.gateway.baseUrl, apiKey: testKey, maxRetries: 0 });
const anthropicClient = () => new Anthropic({ baseURL: talks.gateway.origin, apiKey: testKey, maxRetries: 0 });
const geminiClient = () => new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: talks.gateway.origin } });

const chat = { model: 'gpt-x', messages: [question] };
const message = { ...chat, max_tokens: 100 };

describe('what a client is left waiting for', () => {
  test('silence lasts until the client’s own time is over', async () => {
    await talks.start('silence');
    const outcomes = await all({ stream: true, timeoutMs: 200 });
    expect(outcomes.map(({ error }) => error)).toEqual([
      'APIConnectionTimeoutError',
      'APIConnectionTimeoutError',
      'DOMException',
    ]);
    expect(talks.upstream.seen).toEqual([]);
  });

  test('silence ends with the connection after its time', async () => {
    await talks.start('silence;seconds=1');
    const outcomes = await all({ stream: false });
    expect(outcomes.map(({ error }) => error)).toEqual(['APIConnectionError', 'APIConnectionError', 'TypeError']);
  });

  test.each(['stall;after=3;seconds=1', 'stall;bytes=600;seconds=1'])(
    '%s ends streams after some content',
    async (rule) => {
      await talks.start(rule);
      const outcomes = await all({ stream: true });
      expect(outcomes.map(({ error }) => error)).toEqual(['TypeError', 'AnthropicError', 'TypeError']);
      expect(outcomes[0]?.heard).toMatch(/^One /);
      expect(whole.startsWith(outcomes[0]?.heard ?? '-')).toBe(true);
    },
  );
});

describe('what an answer says', () => {
  test.each([
    ['omit', undefined],
    ['zero', 0],
    ['double', 42],
  ])('usage;change=%s', async (change, promptTokens) => {
    await talks.start(`usage;change=${change}`);
    const plain = await openaiClient().chat.completions.create(chat);
    expect(plain.usage?.prompt_tokens).toBe(promptTokens);
    const told: (number | undefined)[] = [];
    const asked = { ...chat, stream: true as const, stream_options: { include_usage: true } };
    for await (const { usage } of await openaiClient().chat.completions.create(asked)) told.push(usage?.prompt_tokens);
    expect(told.findLast((each) => each !== undefined)).toBe(promptTokens);
    expect((await anthropicClient().messages.create(message)).usage?.input_tokens).toBe(promptTokens);
    const { usageMetadata } = await geminiClient().models.generateContent({ model: 'gpt-x', contents: 'Count.' });
    expect(usageMetadata?.promptTokenCount).toBe(promptTokens);
  });

  test('a filtered answer says so in the words of its API', async () => {
    await talks.start('filtered');
    expect((await openaiClient().chat.completions.create(chat)).choices[0]?.finish_reason).toBe('content_filter');
    expect((await anthropicClient().messages.stream(message).finalMessage()).stop_reason).toBe('refusal');
    const response = openaiClient().responses.stream({ model: 'gpt-x', input: 'Count.' });
    expect((await response.finalResponse()).incomplete_details).toEqual({ reason: 'content_filter' });
    const { candidates } = await geminiClient().models.generateContent({ model: 'gpt-x', contents: 'Count.' });
    expect(candidates?.[0]?.finishReason).toBe('SAFETY');
  });

  test('a wrong content type hides a whole answer from those that look at it, and no stream', async () => {
    await talks.start('wrong-type');
    const outcomes = await all({ stream: false });
    expect(outcomes.map(({ error, text }) => error ?? text)).toEqual(['TypeError', 'TypeError', whole]);
    expect(await all({ stream: true })).toEqual([{ text: whole }, { text: whole }, { text: whole }]);
  });

  test('an HTML page in place of a stream is an error to two clients, and an empty answer to OpenAI’s', async () => {
    await talks.start('html');
    expect(await all({ stream: true })).toEqual([{ text: '' }, { error: 'AnthropicError' }, { error: 'Error' }]);
  });
});

describe('a call of a tool that is cut inside its arguments', () => {
  const description = 'Tells the weather.';
  const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } };

  test('is an error to OpenAI’s client, which has the beginning of the arguments', async () => {
    await talks.start('cut;inside=tool-call');
    const tools = [{ type: 'function' as const, function: { name: 'weather', description, parameters } }];
    let heard = '';
    const reading = async () => {
      for await (const { choices } of await openaiClient().chat.completions.create({ ...chat, tools, stream: true })) {
        heard += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
      }
    };
    await expect(reading()).rejects.toThrow(TypeError);
    expect(heard).toBe('{"city":');
    expect(callArguments.startsWith(heard)).toBe(true);
  });

  test('is an error to Anthropic’s and Google’s', async () => {
    await talks.start('cut;inside=tool-call');
    const tools = [{ name: 'weather', description, input_schema: parameters }];
    await expect(
      anthropicClient()
        .messages.stream({ ...message, tools })
        .finalMessage(),
    ).rejects.toThrow(Anthropic.AnthropicError);
    const declaration: FunctionDeclaration = { name: 'weather', description, parametersJsonSchema: parameters };
    const config = { tools: [{ functionDeclarations: [declaration] }] };
    const reading = async () => {
      const asked = { model: 'gpt-x', contents: 'Count.', config };
      for await (const part of await geminiClient().models.generateContentStream(asked))
        expect(part.functionCalls).toBe(undefined);
    };
    await expect(reading()).rejects.toThrow();
  });
});

describe('several faults of one request', () => {
  test('act together: late, slow, and cut', async () => {
    await talks.start('late-head;ms=5', 'late-event;ms=5', 'pace;tokens-per-second=2000', 'cut;after=4');
    const outcomes = await all({ stream: true });
    expect(outcomes.map(({ error }) => error)).toEqual(['TypeError', 'AnthropicError', 'TypeError']);
    // The first event contains no text.
    expect(outcomes[0]?.heard).toBe(words.slice(0, 3).join(''));
  });

  test('change what an answer says more than once, event by event', async () => {
    await talks.start('duplicate-events;each=1', 'usage;change=zero', 'huge-event;after=1;kilobytes=1');
    const asked = { ...chat, stream: true as const, stream_options: { include_usage: true } };
    const told: (number | undefined)[] = [];
    let text = '';
    for await (const { usage, choices } of await openaiClient().chat.completions.create(asked)) {
      if (usage) told.push(usage.prompt_tokens);
      text += choices[0]?.delta.content ?? '';
    }
    expect(text).toBe(words.map((word) => word + word).join(''));
    expect(told).toEqual([0, 0]);
  });

  test('in a whole answer: other usage, and half of it under a wrong type', async () => {
    await talks.start('usage;change=double', 'wrong-type', 'cut');
    const response = await talks.gateway.fetch('/chat/completions', { method: 'POST', body: JSON.stringify(chat) });
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(response.headers.get('x-sluice-fault')).toBe('usage, wrong-type, cut');
    await expect(response.text()).rejects.toThrow();
  });
});

describe('requests that a rule chooses', () => {
  const statuses = async (...models: string[]) => {
    const found: (number | undefined)[] = [];
    for (const model of models) {
      const asking = openaiClient().chat.completions.create({ ...chat, model });
      found.push(await asking.then(() => 200).catch((error: unknown) => (error as { status?: number }).status));
    }
    return found;
  };

  test('are the third one, or those for a model, as the client sees it', async () => {
    await talks.start('quota;nth=3', 'status;code=404;model=claude-*');
    expect(await statuses('gpt-x', 'claude-y', 'gpt-x', 'gpt-x')).toEqual([200, 404, 429, 200]);
  });

  test('are the same share of them for the same seed', async () => {
    const chosen = async () => {
      await talks.start('overloaded;share=0.4');
      return statuses(...Array.from({ length: 15 }, () => 'gpt-x'));
    };
    const first = await chosen();
    expect(new Set(first)).toEqual(new Set([200, 503]));
    expect(await chosen()).toEqual(first);
  });
});
