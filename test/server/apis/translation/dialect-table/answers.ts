/** The parts of an answer, in the notation of each API. */
import type { UpstreamWireName } from '../../../../../server/apis/neutral/conversation.ts';
import * as anthropic from '../../../../support/strict-anthropic.ts';
import { messageWith, reasoningWith } from '../../../../support/strict-responses.ts';
import type { Json } from '../translating.ts';
import {
  afterCalls,
  answer,
  type Case,
  called,
  each,
  inEach,
  none,
  resulted,
  type Side,
  textStream,
  told,
  tools,
  userItem,
} from './notation.ts';

const cachePoint = { cachePoint: { type: 'default' } };
export const text: Case = inEach(
  {
    asks: {},
    gets: [{ role: 'user', content: 'Hello' }],
    says: answer.chat({ content: 'Hi.' }),
    hears: [{ role: 'assistant', content: 'Hi.' }],
  },
  {
    asks: {},
    gets: [userItem({ type: 'input_text', text: 'Hello' })],
    says: answer.responses([messageWith('Hi.')]),
    hears: [{ role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
  },
  {
    asks: {},
    gets: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    says: answer.messages([anthropic.text('Hi.')]),
    hears: [anthropic.text('Hi.')],
  },
  {
    asks: {},
    gets: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    says: answer.gemini([{ text: 'Hi.' }]),
    hears: [{ role: 'model', parts: [{ text: 'Hi.' }] }],
  },
  {
    asks: null,
    gets: [{ role: 'user', content: [{ text: 'Hello' }, cachePoint] }],
    says: answer.converse([{ text: 'Hi.' }]),
  },
);

const delta = (piece: string) => ({ type: 'text_delta', text: piece });
const outputDelta = (piece: string) => ({ type: 'response.output_text.delta', delta: piece });
const streamed: Record<UpstreamWireName, unknown[]> = {
  'bedrock-converse': [],
  'openai-chat': [{ delta: { content: 'Hi ' } }, { delta: { content: 'you' } }, { finish_reason: 'stop' }, '[DONE]'],
  'openai-responses': [outputDelta('Hi '), outputDelta('you'), { type: 'response.completed' }],
  'anthropic-messages': [delta('Hi '), delta('you'), { stop_reason: 'end_turn' }, { type: 'message_stop' }],
  'gemini-generate': [{ parts: [{ text: 'Hi ' }] }, { parts: [{ text: 'you' }] }, { finishReason: 'STOP' }],
};
export const stream: Case = each((wire) => ({
  asks: { stream: true },
  gets: wire === 'gemini-generate' || wire === 'bedrock-converse' ? [] : [{ stream: true }],
  says: textStream[wire],
  hears: streamed[wire],
}));

const summary = [{ type: 'summary_text', text: 'Hm.' }];
const reasoning = reasoningWith('Hm.');
const signed = { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' };
const thought = { text: 'Hm.', thought: true };
const converseThought = { reasoningContent: { reasoningText: { text: 'Hm.' } } };
export const visible: Case = inEach(
  told(answer.chat({ reasoning_content: 'Hm.', content: 'Hi.' }), { reasoning_content: 'Hm.' }),
  told(answer.responses([reasoning, messageWith('Hi.')]), { type: 'reasoning', summary }),
  told(answer.messages([signed, anthropic.text('Hi.')]), { type: 'thinking', thinking: 'Hm.' }),
  told(answer.gemini([thought, { text: 'Hi.' }]), thought),
  told(answer.converse([converseThought, { text: 'Hi.' }])),
);

/** The first element of a list in an answer. */
const firstOf = (list: unknown) => (list as Json[])[0] as Json;
const sealedCall = { ...called['gemini-generate']('call_0'), thoughtSignature: 'c2ln' };
export const sentBack: Case = inEach(
  {
    asks: tools['openai-chat'],
    gets: [{ role: 'assistant', reasoning_content: 'Hm.' }],
    says: answer.chat({ reasoning_content: 'Hm.', tool_calls: [called['openai-chat']('call_0')] }, 'tool_calls'),
    continues: ({ choices }) => {
      const message = firstOf(choices).message as Json;
      const { id } = firstOf(message.tool_calls);
      const turns = [message, resulted['openai-chat'](String(id))];
      return { messages: [{ role: 'user', content: 'Hello' }, ...turns] };
    },
  },
  {
    asks: tools['openai-responses'],
    gets: [reasoning],
    says: answer.responses([reasoning, called['openai-responses']('call_0')]),
    continues: ({ output }) => {
      const items = output as Json[];
      return afterCalls['openai-responses'](items, [resulted['openai-responses'](String(items.at(-1)?.call_id))]);
    },
  },
  {
    asks: tools['anthropic-messages'],
    gets: [signed],
    says: answer.messages([signed, called['anthropic-messages']('call_0')], 'tool_use'),
    continues: ({ content }) => {
      const blocks = content as Json[];
      return afterCalls['anthropic-messages'](blocks, [resulted['anthropic-messages'](String(blocks.at(-1)?.id))]);
    },
  },
  {
    asks: tools['gemini-generate'],
    gets: [sealedCall],
    says: answer.gemini([thought, sealedCall]),
    continues: ({ candidates }) => {
      // Google's clients leave thoughts out of what they send back.
      const parts = ((firstOf(candidates).content as Json).parts as Json[]).filter((part) => part.thought !== true);
      return afterCalls['gemini-generate'](parts, [resulted['gemini-generate']('')]);
    },
  },
  {
    asks: null,
    gets: [converseThought],
    says: answer.converse([converseThought, called['bedrock-converse']('call_0')], 'tool_use'),
  },
);

const details = [
  { type: 'reasoning.summary', summary: 'Hm.', format: 'google-gemini-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'c2ln', id: 'call_0', format: 'google-gemini-v1', index: 1 },
];
const signedCall = { ...called['openai-chat']('call_0'), extra_content: { google: { thought_signature: 'c2ln' } } };
/** As chats of OpenRouter and of Google's compatible endpoint tell thoughts. */
export const sealedBack: Case = {
  ...sentBack,
  'openai-chat': {
    ...sentBack['openai-chat'],
    gets: [{ role: 'assistant', reasoning_details: details }, signedCall],
    says: answer.chat({ reasoning: 'Hm.', reasoning_details: details, tool_calls: [signedCall] }, 'tool_calls'),
  },
};

export const ends = (names: [finish: string, incomplete: string, stop: string, gemini: string]): Case => {
  const [finish, incomplete, stop, reason] = names;
  const status = { status: 'incomplete', incomplete_details: { reason: incomplete } };
  return inEach(
    told(answer.chat({ content: 'Hi' }, finish), { finish_reason: finish }),
    told(answer.responses([messageWith('Hi')], status), status),
    told(answer.messages([anthropic.text('Hi')], stop), { stop_reason: stop }),
    told(answer.gemini([{ text: 'Hi' }], reason), { finishReason: reason }),
    told(answer.converse([{ text: 'Hi' }], stop === 'refusal' ? 'content_filtered' : stop)),
  );
};

const usages: Record<UpstreamWireName, Json> = {
  'openai-chat': {
    prompt_tokens: 20,
    completion_tokens: 9,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 11 },
  },
  'openai-responses': {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 11 },
    output_tokens: 9,
    total_tokens: 29,
  },
  'anthropic-messages': { input_tokens: 9, cache_read_input_tokens: 11, output_tokens: 9 },
  'gemini-generate': {
    promptTokenCount: 20,
    cachedContentTokenCount: 11,
    candidatesTokenCount: 9,
    totalTokenCount: 29,
  },
  'bedrock-converse': { inputTokens: 9, cacheReadInputTokens: 11, outputTokens: 9, totalTokens: 29 },
};
/** Of the answer's nine tokens, four are thoughts. Bedrock does not count them separately. */
const thoughtful: Record<Exclude<UpstreamWireName, 'bedrock-converse'>, Json> = {
  'openai-chat': { completion_tokens_details: { reasoning_tokens: 4 } },
  'openai-responses': { output_tokens_details: { reasoning_tokens: 4 } },
  'anthropic-messages': { output_tokens_details: { thinking_tokens: 4 } },
  'gemini-generate': { candidatesTokenCount: 5, thoughtsTokenCount: 4 },
};
const usageOf = (wire: UpstreamWireName, usage: Json) => {
  const named = { [wire === 'gemini-generate' ? 'usageMetadata' : 'usage']: usage };
  return told({ ...(text[wire].says as Json), ...named }, named);
};
export const counted = each((wire) => usageOf(wire, usages[wire]));
export const countedThoughts = each((wire) =>
  wire === 'bedrock-converse' ? none : usageOf(wire, { ...usages[wire], ...thoughtful[wire] }),
);

const message = 'Too many requests.';
export const limited: Case = inEach(
  failed(429, { message, type: 'requests', code: 'rate_limit_exceeded' }),
  failed(429, { message, type: 'requests', code: 'rate_limit_exceeded' }),
  failed(429, { message, type: 'rate_limit_error' }, { type: 'error' }),
  failed(429, { message, code: 429, status: 'RESOURCE_EXHAUSTED' }),
  refused(429, 'ThrottlingException', message),
);
const openaiWords =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
const geminiWords = 'The input token count (9001) exceeds the maximum number of tokens allowed (8192).';
const overflow = { message: openaiWords, type: 'invalid_request_error', code: 'context_length_exceeded' };
export const tooLong: Case = inEach(
  failed(400, overflow),
  failed(400, overflow),
  failed(400, { message: 'prompt is too long: 9001 tokens > 8192 maximum', type: 'invalid_request_error' }),
  failed(400, { message: geminiWords, code: 400, status: 'INVALID_ARGUMENT' }),
  refused(400, 'ValidationException', 'prompt is too long: 9001 tokens > 8192 maximum'),
);

function failed(status: number, error: Json, more: Json = {}): Side {
  return told({ status, body: { ...more, error } }, { status, body: { error } });
}

/** An error of Bedrock with its name in the body. */
function refused(status: number, type: string, said: string): Side {
  return { asks: null, gets: [], says: { status, body: { error: { type, message: said } } } };
}

function messageOf(...content: Json[]): Json {
  return { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content };
}

const no = 'I cannot help with that.';
const refusalPart = { type: 'refusal', refusal: no };
const said = { type: 'text', text: no };
/** A model's refusal, which only OpenAI's APIs tell from other texts. */
export const refusing: Case = inEach(
  told(answer.chat({ content: null, refusal: no }), { refusal: no }),
  told(answer.responses([messageOf(refusalPart)]), refusalPart),
  { asks: {}, gets: [], hears: [said, { stop_reason: 'refusal' }] },
  { asks: {}, gets: [], hears: [{ text: no }, { finishReason: 'SAFETY' }] },
  none,
);

const source = { url: 'https://example.com/paris', title: 'Paris' };
const found = 'Hi you';
const urlCitation = { type: 'url_citation', start_index: 0, end_index: 6, ...source };
const chatCitation = { type: 'url_citation', url_citation: { start_index: 0, end_index: 6, ...source } };
const claudeCitation = { type: 'web_search_result_location', cited_text: 'Hi', encrypted_index: 'x', ...source };
const grounding = {
  groundingChunks: [{ web: { uri: source.url, title: source.title } }],
  groundingSupports: [{ segment: { startIndex: 0, endIndex: 6, text: found }, groundingChunkIndices: [0] }],
};
const citation = { title: source.title, location: { web: { url: source.url } } };
/** Where an answer comes from. */
export const cited: Case = inEach(
  told(answer.chat({ content: found, annotations: [chatCitation] }), { annotations: [chatCitation] }),
  told(answer.responses([messageOf({ type: 'output_text', text: found, annotations: [urlCitation] })]), {
    annotations: [urlCitation],
  }),
  told(answer.messages([{ type: 'text', text: found, citations: [claudeCitation] }]), { citations: [claudeCitation] }),
  told(groundedAnswer(), { groundingMetadata: grounding }),
  told(answer.converse([{ citationsContent: { content: [{ text: found }], citations: [citation] } }])),
);

function groundedAnswer(): Json {
  const whole = answer.gemini([{ text: found }]) as { candidates: Json[] };
  return { ...whole, candidates: [{ ...whole.candidates[0], groundingMetadata: grounding }] };
}
