/** The parts of a request, in the notation of each API. */
import type { UpstreamWireName } from '../../../../../server/apis/neutral/conversation.ts';
import type { Json } from '../translating.ts';
import {
  afterCalls,
  answer,
  type Case,
  called,
  each,
  field,
  gets,
  inEach,
  none,
  resulted,
  showing,
  tools,
} from './notation.ts';

export const shown = (parts: Record<UpstreamWireName, Json>): Case =>
  each((wire) => ({ asks: showing[wire](parts[wire]), gets: [parts[wire]] }));

const dataUrl = (type: string) => `data:${type};base64,AAAA`;
const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' };
export const images: Record<UpstreamWireName, Json> = {
  'bedrock-converse': { image: { format: 'png', source: { bytes: 'AAAA' } } },
  'openai-chat': { type: 'image_url', image_url: { url: dataUrl('image/png') } },
  'openai-responses': { type: 'input_image', image_url: dataUrl('image/png') },
  'anthropic-messages': { type: 'image', source: png },
  'gemini-generate': { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
};
export const documents: Record<UpstreamWireName, Json> = {
  'bedrock-converse': { document: { format: 'pdf', source: { bytes: 'AAAA' } } },
  'openai-chat': { type: 'file', file: { filename: 'document.pdf', file_data: dataUrl('application/pdf') } },
  'openai-responses': { type: 'input_file', filename: 'document.pdf', file_data: dataUrl('application/pdf') },
  'anthropic-messages': { type: 'document', source: pdf },
  'gemini-generate': { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
};

const pdfUri = { mimeType: 'application/pdf', fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/1' };
/** A reference to a file that was uploaded to the provider. */
const ids: Record<UpstreamWireName, Json> = {
  'bedrock-converse': {},
  'openai-chat': { type: 'file', file: { file_id: 'file-1' } },
  'openai-responses': { type: 'input_file', file_id: 'file-1' },
  'anthropic-messages': { type: 'document', source: { type: 'file', file_id: 'file_1' } },
  'gemini-generate': { fileData: pdfUri },
};
export const uploaded: Case = each((wire) => ({ asks: showing[wire](ids[wire]), gets: null }));

export const kind = 'Be kind.';
export const system: Case = inEach(
  {
    asks: {
      messages: [
        { role: 'system', content: kind },
        { role: 'user', content: 'Hello' },
      ],
    },
    gets: [{ role: 'system', content: kind }],
  },
  field({ instructions: kind }),
  { asks: { system: kind }, gets: [{ system: [{ type: 'text', text: kind }] }] },
  field({ systemInstruction: { parts: [{ text: kind }] } }),
  gets({ text: kind }),
);

const later = [
  { role: 'assistant', content: 'Hi.' },
  { role: 'user', content: 'Go on.' },
];
export const systemLater: Case = inEach(
  {
    asks: { messages: [{ role: 'user', content: 'Hello' }, ...later, { role: 'system', content: kind }] },
    gets: [{ role: 'system', content: kind }],
  },
  {
    asks: { input: [{ role: 'user', content: 'Hello' }, ...later, { role: 'developer', content: kind }] },
    gets: [{ role: 'developer', content: [{ type: 'input_text', text: kind }] }],
  },
  {
    asks: { messages: [{ role: 'user', content: 'Hello' }, ...later, { role: 'system', content: kind }] },
    gets: [{ role: 'system', content: [{ type: 'text', text: kind }] }],
  },
  none,
  none,
);

/** An answer with these calls. */
const calling: Record<UpstreamWireName, (calls: Json[]) => Json> = {
  'bedrock-converse': (calls) => answer.converse(calls, 'tool_use'),
  'openai-chat': (calls) => answer.chat({ tool_calls: calls }, 'tool_calls'),
  'openai-responses': (calls) => answer.responses(calls),
  'anthropic-messages': (calls) => answer.messages(calls, 'tool_use'),
  'gemini-generate': (calls) => answer.gemini(calls),
};
/** Clients also receive ids, which Gemini's models do not provide. */
const nameless: Record<UpstreamWireName, (id: string) => Json> = {
  'bedrock-converse': called['bedrock-converse'],
  'openai-chat': (id) => ({ function: { name: 'read', arguments: JSON.stringify({ path: id }) } }),
  'openai-responses': (id) => ({ type: 'function_call', name: 'read', arguments: JSON.stringify({ path: id }) }),
  'anthropic-messages': (id) => ({ type: 'tool_use', name: 'read', input: { path: id } }),
  'gemini-generate': called['gemini-generate'],
};

export const toolUse = (ids: readonly string[]) =>
  each((wire) => {
    const calls = ids.map((id) => called[wire](id));
    const results = ids.map((id) => resulted[wire](id));
    const says = calling[wire](calls);
    const asks = { ...afterCalls[wire](calls, results), ...tools[wire] };
    return { asks, gets: [tools[wire], ...calls, ...results], says, hears: ids.map((id) => nameless[wire](id)) };
  });

export const withImage = each((wire) => {
  const result = resulted[wire]('call_0', images[wire]);
  const asks = { ...afterCalls[wire]([called[wire]('call_0')], [result]), ...tools[wire] };
  return { asks, gets: wire === 'openai-chat' ? null : [result] };
});

export const single: Case = inEach(
  field({ parallel_tool_calls: false }),
  field({ parallel_tool_calls: false }),
  field({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
  none,
  none,
);
export const forced: Case = inEach(
  field({ tool_choice: { type: 'function', function: { name: 'read' } } }),
  field({ tool_choice: { type: 'function', name: 'read' } }),
  field({ tool_choice: { type: 'tool', name: 'read' } }),
  field({ toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } } }),
  gets({ toolConfig: { toolChoice: { tool: { name: 'read' } } } }),
);
export const withTools = (choices: Case): Case =>
  each((wire) => {
    const { asks, gets } = choices[wire];
    return { asks: asks && { ...asks, ...tools[wire] }, gets };
  });

/** A tool that the provider runs. */
export const search: Case = inEach(
  { asks: { web_search_options: {} }, gets: null },
  { asks: { tools: [{ type: 'web_search' }] }, gets: null },
  { asks: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, gets: null },
  { asks: { tools: [{ googleSearch: {} }] }, gets: null },
  none,
);

const schema = {
  type: 'object',
  properties: { verdict: { type: 'string' } },
  required: ['verdict'],
  additionalProperties: false,
};
export const inFormat: Case = inEach(
  field({ response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
  field({ text: { format: { type: 'json_schema', name: 'answer', schema } } }),
  field({ output_config: { format: { type: 'json_schema', schema } } }),
  field({ generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
  none,
);

export const effort: Case = inEach(
  field({ reasoning_effort: 'high' }),
  field({ reasoning: { effort: 'high', summary: 'auto' } }),
  field({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }),
  field({ generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } } }),
  none,
);

const breakpoint = { cache_control: { type: 'ephemeral' } };
/** Only Anthropic's API caches nothing unless a request asks for it. */
export const cached: Case = inEach(
  field({}),
  field({}),
  field(breakpoint),
  field({}),
  gets({ cachePoint: { type: 'default' } }),
);
export const cacheKey: Case = inEach(
  field({ prompt_cache_key: 'session-1' }),
  field({ prompt_cache_key: 'session-1' }),
  // Claude Code's notation of its session.
  { asks: { metadata: { user_id: JSON.stringify({ session_id: 'session-1' }) } }, gets: null },
  none,
  none,
);

export const stops: Case = inEach(
  field({ stop: ['END'] }),
  none,
  field({ stop_sequences: ['END'] }),
  field({ generationConfig: { stopSequences: ['END'] } }),
  gets({ inferenceConfig: { stopSequences: ['END'] } }),
);
export const temperature: Case = inEach(
  field({ temperature: 0.5 }),
  field({ temperature: 0.5 }),
  field({ temperature: 0.5 }),
  field({ generationConfig: { temperature: 0.5 } }),
  gets({ inferenceConfig: { temperature: 0.5 } }),
);

export const beginning = 'The answer is';
const begunChat = [
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: beginning },
];
const begunGemini = { role: 'model', parts: [{ text: beginning }] };
/** The last message is the beginning of the answer. */
export const prefill: Case = inEach(
  { asks: { messages: begunChat }, gets: [{ role: 'assistant', content: beginning }] },
  { asks: { input: begunChat }, gets: [{ type: 'output_text', text: beginning }] },
  { asks: { messages: begunChat }, gets: [{ type: 'text', text: beginning }] },
  { asks: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }, begunGemini] }, gets: [begunGemini] },
  gets({ role: 'assistant', content: [{ text: beginning }] }),
);

const note = 'A note about Paris.';
const noteDocument = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: note } };
const inText = `Done.\n${note}`;
const notedIn = {
  'openai-chat': { role: 'tool', content: inText },
  'openai-responses': { type: 'input_text', text: note },
  'gemini-generate': { output: inText },
  'bedrock-converse': { format: 'txt', source: { bytes: Buffer.from(note).toString('base64') } },
};
/** Only in Anthropic's API do results contain documents that are text. */
export const documentResults: Case = each((wire) => {
  if (wire !== 'anthropic-messages') return { asks: null, gets: [notedIn[wire]] };
  const result = resulted[wire]('call_0', noteDocument);
  return { asks: { ...afterCalls[wire]([called[wire]('call_0')], [result]), ...tools[wire] }, gets: [] };
});

/** Only Anthropic stores threads of messages. */
export const thread: Case = inEach(none, none, field({ thread: { type: 'create' } }), none, none);
export const threadOn: Case = inEach(
  none,
  none,
  field({ thread: { type: 'continue', previous_message_id: 'msg_1' } }),
  none,
  none,
);

/** The end user, by the client's own name for them. */
export const endUser: Case = inEach(
  field({ safety_identifier: 'user-1' }),
  field({ safety_identifier: 'user-1' }),
  field({ metadata: { user_id: 'user-1' } }),
  none,
  none,
);
