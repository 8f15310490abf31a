/**
 * A conversation that moves between its client's own API and another one and back, through the official SDKs: by another
 * name of the model in each turn, and by an alias of which one provider is down. Each upstream refuses what another one has
 * sealed, in its own words, and Claude a call without its thoughts while it thinks with a budget.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { Content, Part } from '@google/genai';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { wrapSeal } from '../../../server/apis/neutral/requests/carried-reasoning.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';
import type { Json } from '../apis/translation/translating.ts';

const parameters = { type: 'object' as const, properties: { place: { type: 'string' } }, required: ['place'] };
const about = { name: 'weather', description: 'The weather of a place' };
/** What looks like an envelope in a text, a result and an argument stays there. */
const decoy = wrapSeal({ kind: 'plain', data: 'no seal' });
const given = { place: 'Köln', signature: decoy, thoughtSignature: decoy, encrypted_content: decoy };
const result = `Rain. ${decoy}`;
const question = decoy;

interface Provider {
  model: string;
  config: Json;
  secret: string;
  /** What it seals, as it has to come back. */
  seal: string;
  /** Answers with a sealed thought and a call, or says why it refuses the request. */
  script(callId: () => string): Script;
  refusalOf?(body: Json): string | null;
}

const sealsIn = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`"${name}":"([^"]*)"`, 'g'))]
    .map(([, seal = '']) => seal)
    .filter((seal) => seal !== decoy);

const providers: Record<string, Provider> = {
  chat: {
    model: 'kimi-k2-thinking',
    config: { serves: ['chat'] },
    secret: 'k',
    seal: '"reasoning_content":"Hm."',
    script: (callId) =>
      chat.strictChat((body, response) => {
        const message = {
          reasoning_content: 'Hm.',
          tool_calls: [{ index: 0, ...chat.toolCall(callId(), 'weather', given) }],
        };
        if (body.stream !== true) json(response, chat.completion(message, 'tool_calls'));
        else chat.sendStream(response, chat.streamOf([message], 'tool_calls'));
      }),
    refusalOf: ({ messages }) => {
      const extra = (messages as Json[]).flatMap((message) => [message, ...((message.tool_calls as Json[]) ?? [])]);
      const unknown = extra.flatMap(Object.keys).find((name) => ['reasoning_details', 'extra_content'].includes(name));
      return unknown === undefined ? null : `property '${unknown}' is unsupported`;
    },
  },
  responses: {
    model: 'gpt-5.4',
    config: { serves: ['responses'] },
    secret: 'k',
    seal: '"encrypted_content":"gAAAAsealed"',
    script: (callId) =>
      responses.strictResponses((body, response) => {
        const items = [responses.reasoningWith('Hm.'), responses.callWith(callId(), 'weather', given)];
        if (body.stream !== true) json(response, responses.responseWith(items));
        else chat.sendStream(response, responses.streamOfResponse(responses.responseWith(items)));
      }),
    refusalOf: (body) => {
      const items = body.input as Json[];
      if (items.some(({ id }) => String(id).includes('sluice'))) return 'Item with id not found.';
      const seals = items.flatMap(({ encrypted_content: seal }) => (seal === undefined ? [] : [seal]));
      if (items.filter(({ type }) => type === 'reasoning').length > seals.length) return 'Item with id not found.';
      return seals.every((seal) => seal === 'gAAAAsealed') ? null : 'The encrypted content could not be verified.';
    },
  },
  anthropic: {
    model: 'claude-sonnet-4-5',
    config: { dialect: 'anthropic' },
    secret: anthropic.anthropicKey,
    seal: anthropic.signatureOf('Hm.'),
    script: (callId) =>
      anthropic.strictAnthropic((body, response) => {
        const thoughts =
          body.thinking === undefined || (body.thinking as Json).type === 'disabled' ? [] : [anthropic.thought('Hm.')];
        anthropic.send(response, body, [...thoughts, anthropic.toolUse(callId(), 'weather', given)], 'tool_use');
      }),
    refusalOf: (body) => {
      const last = anthropic.inBlocks(body.messages).findLast(({ role }) => role === 'assistant');
      const [first] = (last?.content as Json[] | undefined) ?? [];
      const isWrong = (body.thinking as Json | undefined)?.type === 'enabled' && first && first.type !== 'thinking';
      return isWrong ? 'Expected `thinking` or `redacted_thinking`, but found `tool_use`' : null;
    },
  },
  gemini: {
    model: 'gemini-3-pro',
    config: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    seal: '"thoughtSignature":"c2ln"',
    script: (callId) =>
      gemini.strictGemini(({ verb }, response) => {
        const call = { functionCall: { id: callId(), name: 'weather', args: given }, thoughtSignature: 'c2ln' };
        const parts = [{ text: 'Hm.', thought: true }, call];
        if (verb === 'generateContent') json(response, gemini.answered(parts));
        else
          gemini.sendEvents(
            response,
            parts.map((part) => gemini.answered([part])),
          );
      }),
    refusalOf: (body) => {
      const known = ['c2ln', 'skip_thought_signature_validator'];
      const isForeign = sealsIn(JSON.stringify(body), 'thoughtSignature').some((seal) => !known.includes(seal));
      return isForeign ? 'Corrupted thought signature.' : null;
    },
  },
  bedrock: {
    model: 'openai.gpt-oss-120b-1:0',
    config: { dialect: 'bedrock' },
    secret: bedrockKey,
    seal: '"signature":"c2ln"',
    script: (callId) =>
      converse.strictConverse((asked, response) => {
        const call = converse.toolUse(callId(), 'weather', given);
        converse.sendConverse(response, asked, [converse.reasoned('Hm.', 'c2ln'), call], 'tool_use');
      }),
  },
};

/** One conversation of a program with an SDK: each turn asks, and gives the result of the tool that it called. */
type Talk = (model: string, isStreamed: boolean) => Promise<void>;

function throughChat(): Talk {
  const { completions } = gateway.client.chat;
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  const tools = [{ type: 'function' as const, function: { ...about, parameters } }];
  return async (model, isStreamed) => {
    const request = { model, messages, tools };
    const answer = isStreamed
      ? await completions.stream(request).finalChatCompletion()
      : await completions.create(request);
    const message = answer.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (!message || call?.type !== 'function') throw new Error('The tool was not called.');
    expect(JSON.parse(call.function.arguments)).toEqual(given);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: result });
  };
}

function throughResponses(): Talk {
  const client = gateway.client.responses;
  const tools = [{ type: 'function' as const, ...about, parameters, strict: false }];
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
  return async (model, isStreamed) => {
    const request = { model, input, tools, store: false, include: ['reasoning.encrypted_content' as const] };
    const { output }: OpenAI.Responses.Response = isStreamed
      ? await client.stream(request).finalResponse()
      : await client.create(request);
    const call = output.find((item) => item.type === 'function_call');
    if (!call) throw new Error('The tool was not called.');
    expect(JSON.parse(call.arguments)).toEqual(given);
    const items = output.filter((item) => item.type === 'reasoning' || item.type === 'function_call');
    input.push(...items, { type: 'function_call_output', call_id: call.call_id, output: result });
  };
}

function throughMessages(): Talk {
  const client = claudeAt(gateway);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
  const tools = [{ ...about, input_schema: parameters }];
  return async (model, isStreamed) => {
    const thinking = { type: 'enabled' as const, budget_tokens: 2_000 };
    const request = { model, max_tokens: 9_000, messages, tools, thinking };
    const { content } = isStreamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const call = content.find((block) => block.type === 'tool_use');
    if (!call) throw new Error('The tool was not called.');
    expect(call.input).toEqual(given);
    const results = [{ type: 'tool_result' as const, tool_use_id: call.id, content: result }];
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  };
}

function throughGemini(): Talk {
  const { models } = geminiAt(gateway);
  const config = { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: parameters }] }] };
  const contents: Content[] = [{ role: 'user', parts: [{ text: question }] }];
  return async (model, isStreamed) => {
    const parts: Part[] = [];
    if (isStreamed) {
      // As Google's own streams, Sluice's end with an empty text.
      for await (const { candidates } of await models.generateContentStream({ model, contents, config }))
        parts.push(...(candidates?.[0]?.content?.parts ?? []).filter(({ text }) => text !== ''));
    } else {
      const { candidates } = await models.generateContent({ model, contents, config });
      parts.push(...(candidates?.[0]?.content?.parts ?? []));
    }
    const call = parts.find(({ functionCall }) => functionCall)?.functionCall;
    if (!call) throw new Error('The tool was not called.');
    expect(call.args).toEqual(given);
    const functionResponse = { id: call.id ?? '', name: 'weather', response: { output: result } };
    contents.push({ role: 'model', parts }, { role: 'user', parts: [{ functionResponse }] });
  };
}

let gateway: TestGateway;
const upstreams = new Map<string, ScriptedUpstream>();
const down = new Set<string>();
/** What was refused, by whom. */
const refusals: string[] = [];
let calls = 0;

/** Refuses what the provider cannot read before its script is asked. */
function strictly(id: string, { script, refusalOf }: Provider): Script {
  const answer = script(() => `call_${++calls}`);
  return async (request, response, raw) => {
    if (down.has(id)) return json(response, { error: { message: 'down', type: 'server_error' } }, 503);
    response.on('finish', () => response.statusCode >= 400 && refusals.push(`${id}: ${response.statusCode}`));
    const refusal = refusalOf?.(chat.bodyOf(request)) ?? null;
    if (refusal === null) return answer(request, response, raw);
    refusals.push(`${id}: ${refusal}`);
    json(response, { type: 'error', error: { message: refusal, type: 'invalid_request_error', code: 400 } }, 400);
  };
}

beforeAll(async () => {
  const configs = [];
  for (const [id, provider] of Object.entries(providers)) {
    const upstream = await startUpstream(strictly(id, provider));
    upstreams.set(id, upstream);
    const bases: Record<string, string> = { chat: upstream.baseUrl, responses: upstream.baseUrl };
    const baseUrl = id === 'gemini' ? `${upstream.origin}/v1beta` : (bases[id] ?? upstream.origin);
    configs.push(mainProvider(baseUrl, { id, models: [provider.model], ...provider.config }));
  }
  const ids = Object.keys(providers);
  const targetOf = (id: string) => ({ provider: id, model: providers[id]?.model ?? '' });
  const aliases = ids.flatMap((home) =>
    ids.map((away) => ({ name: `${home}-or-${away}`, targets: [targetOf(home), targetOf(away)] })),
  );
  const secrets = Object.entries(providers).map(([id, { secret }]) => [`provider/${id}/c1`, secret]);
  const groups = [{ id: 'default', policy: { retries: 0 } }];
  gateway = await startGateway({
    config: { groups, providers: configs, aliases },
    secrets: Object.fromEntries(secrets),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.stop()));
});
beforeEach(() => {
  down.clear();
  refusals.length = 0;
  for (const { seen } of upstreams.values()) seen.length = 0;
});

const clients: Record<string, () => Talk> = {
  chat: throughChat,
  responses: throughResponses,
  anthropic: throughMessages,
  gemini: throughGemini,
};
const ways = [
  ['whole', false],
  ['streamed', true],
] as const;

describe.each(Object.keys(clients))('a conversation through the API of %s', (home) => {
  const aways = Object.keys(providers).filter((id) => id !== home);

  describe.each(aways)('that moves to %s and back', (away) => {
    test.each(ways)(
      'fails in no turn, and no turn costs a refused request: %s, by the name of the model',
      async (_way, isStreamed) => {
        const talk = clients[home]?.();
        for (const id of [home, away, home, away, home]) await talk?.(providers[id]?.model ?? '', isStreamed);
        expect(refusals).toEqual([]);
        expect(upstreams.get(home)?.seen).toHaveLength(3);
        const last = upstreams.get(home)?.seen.at(-1)?.body.toString() ?? '';
        expect(last).toContain(providers[home]?.seal);
        expect(last.split(decoy).length - 1).toBe(1 + 4 + 3 * 4);
      },
    );

    test.each(ways)(
      'fails in no turn, and no turn costs a refused request: %s, by an alias',
      async (_way, isStreamed) => {
        const talk = clients[home]?.();
        for (const other of [away, home, away, home, away]) {
          down.clear();
          down.add(other);
          await talk?.(`${home}-or-${away}`, isStreamed);
        }
        expect(refusals).toEqual([]);
        expect(upstreams.get(home)?.seen.at(-1)?.body.toString()).toContain(providers[home]?.seal);
      },
    );
  });
});
