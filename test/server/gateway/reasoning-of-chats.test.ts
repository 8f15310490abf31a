/**
 * Reasoning that a provider of chats wants back, in its own members, returns to it unchanged through clients of all other
 * APIs, whether they bring back all of it, a part or nothing. Sources: OpenRouter, "Reasoning tokens"; Google, "Thought
 * signatures"; DeepSeek, "Thinking mode".
 */
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyOf, chunk, completion, ending, toolCall } from '../../support/strict-chat.ts';
import { keepings, type LoopClient, toolLoops } from '../../support/tool-loops.ts';
import { eventStream, json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

/** What a service says before it calls, as a whole and in the deltas of its stream. */
interface Form {
  model: string;
  /** The members that must come back. */
  message: Json;
  /** Members of the answer that need not come back. */
  shown?: Json;
  /** Before, with and after the calls. */
  deltas: { before: Json[]; after?: Json[] };
  /** The members of each call. */
  calls?: [Json, Json];
  /** Deltas that add them after each call has begun. */
  callDeltas?: Json[];
}

const encrypted = (index: number, id: string) => ({
  type: 'reasoning.encrypted',
  data: `U0lH${id}==`,
  id,
  format: 'google-gemini-v1',
  index,
});
const summary = (text: string) => ({ type: 'reasoning.summary', summary: text, format: 'google-gemini-v1', index: 0 });
const claude = (members: Json, index = 0) => ({
  type: 'reasoning.text',
  format: 'anthropic-claude-v1',
  ...members,
  index,
});
const told = (detail: Json) => ({ reasoning: detail.text ?? detail.summary ?? null, reasoning_details: [detail] });
const signed = (vendor: string) => ({ extra_content: { [vendor]: { thought_signature: 'U0lHbmF0dXJl', more: 1 } } });
const long = Array.from({ length: 100 }, (_, index) => `${index} "Größe" 漢字\n`.repeat(100));

const forms: Record<string, Form> = {
  'details of Gemini, each call with its own': {
    model: 'google/gemini-3-pro-preview',
    shown: { reasoning: 'I look twice.' },
    message: { reasoning_details: [summary('I look twice.'), encrypted(1, 'call_1'), encrypted(2, 'call_2')] },
    deltas: {
      before: [told(summary('I look')), told(summary(' twice.')), { reasoning_details: [encrypted(1, 'call_1')] }],
      after: [{ reasoning_details: [encrypted(2, 'call_2')] }],
    },
  },
  'details that come after the calls alone': {
    model: 'google/gemini-3-flash',
    message: { reasoning_details: [encrypted(0, 'call_1'), encrypted(0, 'call_2')] },
    deltas: {
      before: [],
      after: [{ reasoning_details: [encrypted(0, 'call_1')] }, { reasoning_details: [encrypted(0, 'call_2')] }],
    },
  },
  'several details of Claude, signed after their text': {
    model: 'anthropic/claude-opus-5-5',
    shown: { reasoning: 'First.Then.' },
    message: {
      content: 'I look.',
      reasoning_details: [
        claude({ text: 'First.', signature: 'Ev1==' }),
        { type: 'reasoning.encrypted', data: 'redacted==', format: 'anthropic-claude-v1', index: 1 },
        claude({ text: 'Then.', signature: 'Ev2==' }, 2),
      ],
    },
    deltas: {
      before: [
        told(claude({ text: 'Fir', signature: null })),
        told(claude({ text: 'st.' })),
        { reasoning_details: [claude({ signature: 'Ev1==' })] },
        {
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'redacted==', format: 'anthropic-claude-v1', index: 1 },
          ],
        },
        { content: 'I look.' },
        told(claude({ text: 'Then.' }, 2)),
        { reasoning_details: [claude({ signature: 'Ev2==' }, 2)] },
      ],
    },
  },
  'details of OpenAI, with ids': {
    model: 'openai/gpt-5.4',
    shown: { reasoning: '**Looking**' },
    message: {
      reasoning_details: [
        { type: 'reasoning.summary', summary: '**Looking**', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'gAAAA', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
      ],
    },
    deltas: {
      before: [
        told({ type: 'reasoning.summary', summary: '**Look', id: 'rs_1', format: 'openai-responses-v1', index: 0 }),
        told({ type: 'reasoning.summary', summary: 'ing**', id: 'rs_1', format: 'openai-responses-v1', index: 0 }),
        {
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'gAAAA', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
          ],
        },
      ],
    },
  },
  'details without anything sealed, an index or a text beside them': {
    model: 'minimax/minimax-m2',
    message: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm hm.', format: 'unknown' }] },
    deltas: {
      before: ['Hm', ' hm', '.'].map((text) => ({
        reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown' }],
      })),
    },
  },
  'details of 200 kB': {
    model: 'deepseek/deepseek-v4',
    shown: { reasoning: long.join('') },
    message: { reasoning_details: [claude({ text: long.join(''), signature: 'Ev==' })] },
    deltas: {
      before: [...long.map((text) => told(claude({ text }))), { reasoning_details: [claude({ signature: 'Ev==' })] }],
    },
  },
  'signatures of Google beside the calls': {
    model: 'gemini-3-pro-preview',
    message: {},
    calls: [signed('google'), {}],
    deltas: { before: [] },
  },
  'signatures of Vertex AI, each call with its own, after it has begun': {
    model: 'gemini-3.5-flash',
    message: {},
    calls: [signed('vertex'), signed('google')],
    callDeltas: [signed('vertex'), signed('google')],
    deltas: { before: [{ content: 'I look.' }] },
    shown: { content: 'I look.' },
  },
  'a signature of Google beside the text': {
    model: 'gemini-3-pro-image',
    message: { content: 'I look.', ...signed('google') },
    deltas: { before: [{ content: 'I look.' }, signed('google')] },
  },
  'the text of DeepSeek': {
    model: 'deepseek-v4',
    message: { content: 'I look.', reasoning_content: ' I think.\n\n"So" ' },
    deltas: {
      before: [{ reasoning_content: ' I think.' }, { reasoning_content: '\n\n"So" ' }, { content: 'I look.' }],
    },
  },
  'a text of Kimi of 200 kB': {
    model: 'kimi-k2-thinking',
    message: { reasoning_content: long.join('') },
    deltas: { before: long.map((text) => ({ reasoning_content: text })) },
  },
};

const bareCalls = [toolCall('call_1', 'weather', { place: 'Köln' }), toolCall('call_2', 'weather', { place: 'Bonn' })];
const callsOf = ({ calls = [{}, {}] }: Form) => bareCalls.map((call, index) => ({ ...call, ...calls[index] }));

function streamOf(form: Form): string {
  const { deltas, callDeltas = [] } = form;
  const ofCalls = (callDeltas.length > 0 ? bareCalls : callsOf(form)).map((call, index) => ({
    tool_calls: [{ index, ...call }],
  }));
  const later = callDeltas.map((members, index) => ({ tool_calls: [{ index, ...members }] }));
  const all = [{ role: 'assistant', content: '' }, ...deltas.before, ...ofCalls, ...later, ...(deltas.after ?? [])];
  return `${all.map((delta) => chunk(delta)).join('')}${ending('tool_calls')}`;
}

/** The members of the turn with the calls that only its provider understands. */
const opaqueOf = ({ reasoning_details, reasoning_content, reasoning, extra_content, tool_calls }: Json) => ({
  extra_content,
  reasoning_details,
  reasoning_content,
  reasoning,
  calls: (tool_calls as Json[]).map((call) => call.extra_content),
});

const refusal = 'Gemini models require OpenRouter reasoning details to be preserved in each request.';

/** Refuses the results of calls whose reasoning is missing or changed. */
const script: Script = async (request, response) => {
  const body = bodyOf(request);
  const form = Object.values(forms).find(({ model }) => model === body.model);
  if (!form) throw new Error(`${String(body.model)} is unknown`);
  const turnBack = (body.messages as Json[]).find(({ role }) => role === 'assistant');
  const expected = opaqueOf({ ...form.message, tool_calls: callsOf(form) });
  if (turnBack && request.headers.authorization === 'Bearer first') {
    const isSame = JSON.stringify(opaqueOf(turnBack), sorted) === JSON.stringify(expected, sorted);
    if (!isSame) return json(response, { error: { message: refusal, code: 400 } }, 400);
  }
  if (turnBack) return json(response, completion({ content: 'Take an umbrella' }));
  if (body.stream !== true)
    return json(response, completion({ ...form.shown, ...form.message, tool_calls: callsOf(form) }, 'tool_calls'));
  eventStream(response);
  const text = Buffer.from(streamOf(form));
  const step = text.length > 20_000 ? 1_000 : 1;
  for (let at = 0; at < text.length; at += step) {
    response.write(text.subarray(at, at + step));
    if (at % 64 === 0) await turn();
  }
  response.end();
};

/** Members in one order, whatever that of the sender. */
function sorted(_name: string, value: unknown): unknown {
  const isMembers = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMembers ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b))) : value;
}

let gateway: TestGateway;
let upstream: ScriptedUpstream;

async function start(credential: string): Promise<TestGateway> {
  const models = Object.values(forms).map(({ model }) => model);
  gateway = await startGateway({
    config: {
      providers: [mainProvider(upstream.baseUrl, { serves: ['chat'], models, credentials: [{ id: credential }] })],
      groups: [{ id: 'default', policy: { retries: 0 } }],
    },
    secrets: { 'provider/main/first': 'first', 'provider/main/second': 'second' },
  });
  return gateway;
}

async function restarted(credential: string): Promise<TestGateway> {
  await gateway.stop();
  return start(credential);
}

beforeAll(async () => {
  upstream = await startUpstream(script);
  await start('first');
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const clients: LoopClient[] = ['responses', 'anthropic', 'gemini'];
const ways = clients.flatMap((client) => [true, false].map((isStreamed) => ({ client, isStreamed })));

describe.each(Object.entries(forms))('%s', (_name, { model }) => {
  describe.each(ways)('go back through a client of $client (stream: $isStreamed)', ({ client, isStreamed }) => {
    test.each(keepings)('that brings back %s', async (keeping) => {
      const { said, dropped } = await toolLoops[client](gateway, { model, isStreamed, keeping });
      expect(said).toBe('Take an umbrella');
      expect(dropped).toBeNull();
      expect(upstream.seen.length).toBe(2);
    });
  });
});

describe('at another account', () => {
  test.each(ways)(
    'what is sealed stays away and is told, through a client of $client (stream: $isStreamed)',
    async (way) => {
      const moves = () => restarted('second');
      const loop = { model: 'google/gemini-3-pro-preview', isStreamed: way.isStreamed, keeping: 'all' as const, moves };
      const { said, dropped } = await toolLoops[way.client](await restarted('first'), loop);
      expect(said).toBe('Take an umbrella');
      expect(dropped).toMatch(/;why=foreign-reasoning$/);
      expect(upstream.seen.at(-1)?.body.toString()).not.toContain('reasoning_details');
    },
  );
});
