/**
 * The official SDK of each API in a loop of tools: it asks, gets calls, brings the turn back as far as it keeps reasoning,
 * with a result for each call, and gets the answer.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { Part } from '@google/genai';
import type OpenAI from 'openai';
import type { TestGateway } from './gateway.ts';
import { claudeAt, geminiAt } from './sdk-clients.ts';

/** How much of the reasoning the client brings back. */
export type Keeping = 'all' | 'part' | 'nothing';
export const keepings: readonly Keeping[] = ['all', 'part', 'nothing'];

export interface LoopAsked {
  model: string;
  isStreamed: boolean;
  keeping: Keeping;
  /** Where the results are sent, if not to the same gateway. */
  moves?: () => Promise<TestGateway>;
}

export interface LoopTold {
  /** The answer to the results. */
  said: string;
  /** What was told as dropped from the second request. */
  dropped: string | null;
  /** The types of what the first answer consisted of, in order. */
  shape: string[];
}

type Loop = (gateway: TestGateway, asked: LoopAsked) => Promise<LoopTold>;

export const question = 'How is the weather in Köln?';
const result = 'Rain until noon.';
const about = { name: 'weather', description: 'The weather of a place' };
const parameters = { type: 'object' as const, properties: { place: { type: 'string' } } };
const droppedIn = (response: Response) => response.headers.get('x-sluice-dropped');

/** A part keeps the later half of the reasoning, or of its only piece nothing. */
function kept<Item>(items: readonly Item[], isReasoning: (item: Item) => boolean, keeping: Keeping): Item[] {
  const count = items.filter(isReasoning).length;
  let seen = 0;
  return items.filter((item) => {
    if (!isReasoning(item)) return true;
    seen++;
    return keeping === 'all' || (keeping === 'part' && seen > Math.ceil(count / 2));
  });
}

const throughMessages: Loop = async (gateway, { model, isStreamed, keeping, moves = async () => gateway }) => {
  const { messages } = claudeAt(gateway);
  const asked: Anthropic.MessageParam = { role: 'user', content: question };
  const request = { model, max_tokens: 1000, tools: [{ ...about, input_schema: parameters }] };
  const first = { ...request, messages: [asked] };
  const { content } = isStreamed ? await messages.stream(first).finalMessage() : await messages.create(first);
  const isReasoning = ({ type }: Anthropic.ContentBlock) => type.endsWith('thinking');
  const results = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: result }] : [],
  );
  const turn: Anthropic.MessageParam = { role: 'assistant', content: kept(content, isReasoning, keeping) };
  const turns = [asked, turn, { role: 'user' as const, content: results }];
  const next = claudeAt(await moves());
  const { data, response } = await next.messages.create({ ...request, messages: turns }).withResponse();
  const said = data.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { said, dropped: droppedIn(response), shape: content.map(({ type }) => type) };
};

const throughResponses: Loop = async (gateway, { model, isStreamed, keeping, moves = async () => gateway }) => {
  const { responses } = gateway.client;
  const request = { model, store: false, tools: [{ type: 'function' as const, ...about, parameters, strict: false }] };
  const asked: OpenAI.Responses.ResponseInputItem = { role: 'user', content: question };
  const first = { ...request, input: [asked] };
  const { output } = isStreamed ? await responses.stream(first).finalResponse() : await responses.create(first);
  const items = kept(output, ({ type }) => type === 'reasoning', keeping) as OpenAI.Responses.ResponseInputItem[];
  const results = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: result }]
      : [],
  );
  const next = (await moves()).client.responses;
  const turns = [asked, ...items, ...results];
  const { data, response } = await next.create({ ...request, input: turns }).withResponse();
  return { said: data.output_text, dropped: droppedIn(response), shape: output.map(({ type }) => type) };
};

const throughGemini: Loop = async (gateway, { model, isStreamed, keeping, moves = async () => gateway }) => {
  const { models } = geminiAt(gateway);
  const config = { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: parameters }] }] };
  const asked = { role: 'user', parts: [{ text: question }] };
  const request = { model, contents: [asked], config };
  const parts: Part[] = [];
  if (isStreamed) {
    for await (const { candidates } of await models.generateContentStream(request))
      parts.push(...(candidates?.[0]?.content?.parts ?? []));
  } else parts.push(...((await models.generateContent(request)).candidates?.[0]?.content?.parts ?? []));
  const results = parts.flatMap(({ functionCall }) =>
    functionCall
      ? [{ functionResponse: { id: functionCall.id ?? '', name: 'weather', response: { output: result } } }]
      : [],
  );
  const signed = parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined);
  const keptSigned = new Set(kept(signed, () => true, keeping));
  const turn = (keeping === 'all' ? parts : parts.filter(({ thought }) => thought !== true)).map((part) => {
    const { thoughtSignature: _, ...unsigned } = part;
    return keptSigned.has(part) ? part : unsigned;
  });
  const contents = [asked, { role: 'model', parts: turn }, { role: 'user', parts: results }];
  const answer = await geminiAt(await moves()).models.generateContent({ model, contents, config });
  const dropped = answer.sdkHttpResponse?.headers?.['x-sluice-dropped'] ?? null;
  const typeOf = ({ thought, functionCall }: Part) => (thought ? 'thought' : functionCall ? 'call' : 'text');
  return { said: answer.text ?? '', dropped, shape: parts.map(typeOf) };
};

type Told = OpenAI.ChatCompletionMessage & { reasoning_content?: string; reasoning_details?: unknown[] };

const throughChat: Loop = async (gateway, { model, isStreamed, keeping, moves = async () => gateway }) => {
  const { completions } = gateway.client.chat;
  const tools = [{ type: 'function' as const, function: { ...about, parameters } }];
  const asked: OpenAI.ChatCompletionMessageParam = { role: 'user', content: question };
  const first = { model, messages: [asked], tools };
  const { choices } = isStreamed
    ? await completions.stream(first).finalChatCompletion()
    : await completions.create(first);
  const message = choices[0]?.message as Told;
  const { reasoning_content: _text, reasoning_details: details = [], ...plain } = message;
  const calls = (message.tool_calls ?? []).map((call) => {
    const { extra_content: extra, ...bare } = call as typeof call & { extra_content?: unknown };
    return keeping === 'all' ? { ...bare, ...(extra ? { extra_content: extra } : {}) } : bare;
  });
  const keptDetails = kept(details, () => true, keeping);
  const turn = { ...plain, tool_calls: calls, ...(keptDetails.length > 0 && { reasoning_details: keptDetails }) };
  const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: result }));
  const turns = [asked, turn as OpenAI.ChatCompletionMessageParam, ...results];
  const next = (await moves()).client.chat.completions;
  const { data, response } = await next.create({ model, messages: turns, tools }).withResponse();
  const shape = details.map(() => 'detail');
  return { said: data.choices[0]?.message.content ?? '', dropped: droppedIn(response), shape };
};

export const toolLoops = {
  chat: throughChat,
  responses: throughResponses,
  anthropic: throughMessages,
  gemini: throughGemini,
} satisfies Record<string, Loop>;
export type LoopClient = keyof typeof toolLoops;
