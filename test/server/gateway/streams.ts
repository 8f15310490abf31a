/** Event streams as upstreams send them, byte for byte, with the route that answers so. */

export interface StreamSample {
  name: string;
  /** Below `/v1`. */
  path: string;
  /** What is asked, but for `stream: true`; a form if `form` is set. */
  body: Record<string, unknown>;
  form?: true;
  bytes: Buffer;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;
const done = 'data: [DONE]\n\n';

export function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-x',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  };
}

export const chatUsage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** A chat stream that was asked for usage, and the same as if nobody had asked. */
export const chatWithUsage = [
  chunk({ role: 'assistant', content: '', refusal: null }, null, { usage: null }),
  chunk({ content: 'Hello \u{1F30D} "usage":null ' }, null, { usage: null }),
  chunk({ content: 'data: [DONE]' }, null, { usage: null }),
  chunk({}, 'stop', { usage: null }),
  { ...chunk({}), choices: [], usage: chatUsage },
]
  .map(data)
  .concat(done)
  .join('');

export const chatWithoutUsage = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Hello \u{1F30D} "usage":null ' }),
  chunk({ content: 'data: [DONE]' }),
  chunk({}, 'stop'),
]
  .map(data)
  .concat(done)
  .join('');

const toolCall = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });

const chatTools = [
  data({
    choices: [],
    created: 0,
    id: '',
    model: '',
    object: '',
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
  }),
  ...[
    chunk({ role: 'assistant', content: null, reasoning_content: 'Hm \u2026' }),
    chunk(toolCall(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } })),
    chunk(toolCall(0, { function: { arguments: '{"city":' } })),
    chunk(toolCall(1, { id: 'call_2', type: 'function', function: { name: 'time', arguments: '' } })),
    chunk(toolCall(0, { function: { arguments: '"Z\u00fcrich"}' } })),
    chunk({}, 'tool_calls', { x_unknown: [1, 2.5, 1e21] }),
  ].map(data),
  done,
].join('');

export function responseObject(status: string, more: object = {}) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    error: null,
    model: 'gpt-x',
    output: [],
    ...more,
  };
}

const message = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi \u{1F44B}', annotations: [] }],
};

export const responsesUsage = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 16,
};

const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };

export const responsesEvents = [
  { type: 'response.created', sequence_number: 0, response: responseObject('in_progress') },
  { type: 'response.in_progress', sequence_number: 1, response: responseObject('in_progress') },
  { type: 'response.output_item.added', sequence_number: 2, output_index: 0, item: { ...message, content: [] } },
  { type: 'response.content_part.added', sequence_number: 3, ...at, part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', sequence_number: 4, ...at, delta: 'Hi ', logprobs: [] },
  { type: 'response.output_text.delta', sequence_number: 5, ...at, delta: '\u{1F44B}', logprobs: [] },
  { type: 'response.output_text.done', sequence_number: 6, ...at, text: 'Hi \u{1F44B}' },
  { type: 'response.content_part.done', sequence_number: 7, ...at, part: message.content[0] },
  { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item: message },
  {
    type: 'response.completed',
    sequence_number: 9,
    response: responseObject('completed', { output: [message], usage: responsesUsage }),
  },
];

const imagesUsage = { input_tokens: 8, output_tokens: 100, total_tokens: 108 };

const imageEvents = (verb: 'image_generation' | 'image_edit') => [
  { type: `${verb}.partial_image`, partial_image_index: 0, b64_json: 'iVBORw0KGgo=', created_at: 1, size: '1024x1024' },
  { type: `${verb}.completed`, b64_json: 'iVBORw0KGgoAAAA=', created_at: 2, size: '1024x1024', usage: imagesUsage },
];

const transcriptUsage = { type: 'tokens', input_tokens: 14, output_tokens: 3, total_tokens: 17 };

const transcriptEvents = [
  { type: 'transcript.text.delta', delta: 'Guten ' },
  { type: 'transcript.text.delta', delta: 'Tag \u00e4' },
  { type: 'transcript.text.done', text: 'Guten Tag \u00e4', usage: transcriptUsage },
];

export const speechEvents = [
  { type: 'speech.audio.delta', audio: 'UklGRg==' },
  { type: 'speech.audio.delta', audio: 'AAAA' },
  { type: 'speech.audio.done', usage: { input_tokens: 5, output_tokens: 9, total_tokens: 14 } },
];

const chat = { path: '/chat/completions', body: { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] } };
const asked = { ...chat, body: { ...chat.body, stream_options: { include_usage: true } } };
const responses = { path: '/responses', body: { model: 'gpt-x', input: 'Hi' } };

/** Small enough to be cut at every byte. */
export const samples: StreamSample[] = [
  { ...asked, name: 'chat with usage', bytes: Buffer.from(chatWithUsage) },
  { ...chat, name: 'chat with tools, reasoning and the first chunk of Azure', bytes: Buffer.from(chatTools) },
  {
    ...chat,
    name: 'chat with CRLF and several lines of data',
    bytes: Buffer.from(
      `: hello\r\n\r\ndata: {"id":"c",\r\ndata:  "object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n`,
    ),
  },
  {
    ...chat,
    name: 'chat with comments, ids, no space after the colon and no last blank line',
    bytes: Buffer.from(
      `: OPENROUTER PROCESSING\n\nid: 7\nretry: 10\ndata:${JSON.stringify(chunk({ content: '\u65e5\u672c' }))}\n\n: ping\n\ndata:${JSON.stringify(chunk({}, 'stop'))}\n\ndata:[DONE]\n`,
    ),
  },
  {
    path: '/completions',
    body: { model: 'gpt-x', prompt: 'Once', stream_options: { include_usage: true } },
    name: 'completions',
    bytes: Buffer.from(
      `${data({ id: 'cmpl-1', object: 'text_completion', choices: [{ text: ' upon', index: 0, finish_reason: null }], usage: null })}${data({ id: 'cmpl-1', object: 'text_completion', choices: [{ text: '', index: 0, finish_reason: 'length' }], usage: null })}${done}`,
    ),
  },
  { ...responses, name: 'responses in full order', bytes: Buffer.from(responsesEvents.map(event).join('')) },
  {
    ...responses,
    name: 'responses with [DONE]',
    bytes: Buffer.from(responsesEvents.map(event).join('').replaceAll('\n', '\r\n') + done),
  },
  {
    path: '/images/generations',
    body: { prompt: 'A cat', model: 'gpt-x' },
    name: 'images',
    bytes: Buffer.from(imageEvents('image_generation').map(event).join('')),
  },
  {
    path: '/images/edits',
    body: { prompt: 'A cat', model: 'gpt-x', images: [{ image_url: 'https://example.com/cat.png' }] },
    name: 'image edits',
    bytes: Buffer.from(imageEvents('image_edit').map(event).join('')),
  },
  {
    path: '/audio/transcriptions',
    body: { model: 'gpt-x' },
    form: true,
    name: 'transcription without event lines',
    bytes: Buffer.from(transcriptEvents.map(data).join('')),
  },
  {
    path: '/audio/speech',
    body: { model: 'gpt-x', input: 'Hi', voice: 'alloy', stream_format: 'sse' },
    name: 'speech',
    bytes: Buffer.from(speechEvents.map(event).join('')),
  },
];

export const isUtf8 = 'text/event-stream; charset=utf-8';

/** A request for a sample's stream. */
export function askFor(sample: StreamSample): RequestInit {
  if (!sample.form) {
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...sample.body, stream: true }),
    };
  }
  const form = new FormData();
  form.set('file', new Blob(['RIFF']), 'a.wav');
  for (const [name, value] of Object.entries(sample.body)) form.set(name, String(value));
  form.set('stream', 'true');
  return { method: 'POST', body: form };
}
