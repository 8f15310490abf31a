/**
 * DeepSeek and Kimi want the reasoning back that led to a call. Chat clients, whose answers pass to them unchanged, seldom bring
 * it back: it is kept for them. Sources: DeepSeek, "Thinking mode"; Moonshot AI, "Kimi K2 thinking".
 */
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf, chunk, completion, ending, toolCall } from '../../support/strict-chat.ts';
import { toolLoops } from '../../support/tool-loops.ts';
import { eventStream, json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const models = { deepseek: 'deepseek-v4-pro', moonshot: 'kimi-k2.6' };
const thoughts = {
  'a few words': ' I think.\n\n"So" 漢字 ',
  '200 kB': Array.from({ length: 2_000 }, (_, index) => `${index} "Größe" 漢字\n`.repeat(5)).join(''),
};
let thought = '';
let paddingBytes = 0;
const calls = [toolCall('call_1', 'weather', { place: 'Köln' }), toolCall('call_2', 'weather', { place: 'Bonn' })];

function streamed(): string {
  const pieces = thought.match(/.{1,200}/gsu) ?? [];
  return [
    ...[{ role: 'assistant', content: '' }, ...pieces.map((reasoning_content) => ({ reasoning_content }))],
    ...calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ]
    .map((delta) => chunk(delta))
    .concat(ending('tool_calls'))
    .join('');
}

/** Refuses calls without the reasoning that led to them. */
const script: Script = async (request, response) => {
  const body = bodyOf(request);
  const told = (body.messages as Json[]).findLast(({ role }) => role === 'assistant');
  if (told?.tool_calls) {
    const message = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    if (told.reasoning_content !== thought) return json(response, { error: { message } }, 400);
    return json(response, completion({ content: 'Take an umbrella' }));
  }
  const padding = 'x'.repeat(paddingBytes);
  if (body.stream !== true)
    return json(
      response,
      completion({ content: '', reasoning_content: thought, padding, tool_calls: calls }, 'tool_calls'),
    );
  eventStream(response);
  const bytes = Buffer.from(streamed());
  const step = bytes.length > 20_000 ? 1_000 : 1;
  for (let at = 0; at < bytes.length; at += step) {
    response.write(bytes.subarray(at, at + step));
    if (at % 64 === 0) await turn();
  }
  response.end();
};

let gateway: TestGateway;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startUpstream(script);
  const providers = Object.entries(models).map(([preset, model]) => ({
    id: preset,
    preset,
    baseUrl: upstream.baseUrl,
    serves: ['chat' as const],
    models: [model],
  }));
  gateway = await startGateway({
    config: { providers, groups: [{ id: 'default', policy: { retries: 0 } }] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  thought = thoughts['a few words'];
  paddingBytes = 0;
});

describe.each(Object.values(models))('of %s', (model) => {
  describe.each(Object.entries(thoughts))('%s', (_name, said) => {
    test.each([true, false])('goes back for a chat client that drops it (stream: %s)', async (isStreamed) => {
      thought = said;
      const told = await toolLoops.chat(gateway, { model, isStreamed, keeping: 'nothing' });
      expect(told).toMatchObject({ said: 'Take an umbrella', dropped: null });
      expect(upstream.seen.length).toBe(2);
    });
  });

  test('goes back from a long answer that came in pieces', async () => {
    paddingBytes = 700_000;
    const { said } = await toolLoops.chat(gateway, { model, isStreamed: false, keeping: 'nothing' });
    expect(said).toBe('Take an umbrella');
  });

  test('goes back as the client names it, if it brings it back as OpenRouter tells it', async () => {
    const asked = { role: 'user' as const, content: 'Hi' };
    const back = { role: 'assistant' as const, content: null, reasoning: thought, tool_calls: calls };
    const results = ['call_1', 'call_2'].map((id) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
    const { choices } = await gateway.client.chat.completions.create({
      model,
      messages: [asked, back as never, ...results],
    });
    expect(choices[0]?.message.content).toBe('Take an umbrella');
  });

  test('stays away from other calls of the same id', async () => {
    const { completions } = gateway.client.chat;
    const asked = { role: 'user' as const, content: 'Hi' };
    await completions.create({ model, messages: [asked] });
    const others = [toolCall('call_1', 'weather', { place: 'Rom' })];
    const back = { role: 'assistant' as const, content: null, tool_calls: others };
    const results = [{ role: 'tool' as const, tool_call_id: 'call_1', content: 'sun' }];
    thought = '';
    await completions.create({ model, messages: [asked, back as never, ...results] });
    expect(upstream.seen.at(-1)?.body.toString()).toContain('"reasoning_content":""');
  });
});
