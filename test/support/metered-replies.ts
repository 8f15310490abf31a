/** The replies of the metered upstream on each route, and the usage that each reply reports. */
import type { Usage } from '../../server/contract/ledger.ts';

/** The outcomes of a request's calls, the first one and later ones. */
export const courses = [
  'well',
  /** The first call ends in an error that costs nothing. */
  'error',
  /** The first three calls do, which is the number of calls made to one target. */
  'outage',
  /** Like `error`, but the error reports usage. */
  'charged-error',
  /** The first call of a stream is cut after some of its text. */
  'cut',
  /** A stream pauses after some of its text until `goOn`, or until the other side disconnects. */
  'pause',
  /** The first call sends nothing until the other side disconnects. */
  'silence',
  /** A complete answer that reports no usage. */
  'untold',
] as const;
export type Course = (typeof courses)[number];

export interface Call {
  path: string;
  text: string;
  provider: string;
  model: string;
  key: string;
  group: string;
  number: number;
  course: Course;
  /** The number of earlier calls of the same request. */
  before: number;
  isStream: boolean;
  random: () => number;
}

export const words = ' the keeper had learned over many winters to tell the weather by the sound of the gulls'.split(
  /(?= )/,
);

/** Reads a field of JSON or of a form. */
export const field = (text: string, name: string) =>
  new RegExp(`"${name}":"([^"]*)"|name="${name}"\\r\\n\\r\\n([^\\r]*)`)
    .exec(text)
    ?.slice(1)
    .find((value) => value !== undefined);

const upTo = (call: Call, most: number) => 1 + Math.floor(call.random() * most);

export function tokens(call: Call): Required<Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>> {
  const inputTokens = upTo(call, 900);
  return { inputTokens, outputTokens: upTo(call, 300), cachedInputTokens: Math.floor(call.random() * inputTokens) };
}

export const chatUsageOf = ({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedInputTokens },
});

const responsesUsageOf = ({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  input_tokens_details: { cached_tokens: cachedInputTokens },
});

/** A complete reply: its body, and the usage that it reports or that can be derived from the request. */
type Whole = (call: Call) => { body: unknown; usage: Usage };

const chatBody = (call: Call, usage: Usage) => ({
  id: `chatcmpl-${call.number}`,
  object: 'chat.completion',
  created: 1_700_000_000,
  model: call.model,
  choices: [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }],
  ...(call.course !== 'untold' && { usage: chatUsageOf(usage) }),
});

export const wholes: Record<string, Whole> = {
  '/chat/completions': (call) => {
    const usage = tokens(call);
    return { body: chatBody(call, usage), usage };
  },
  '/completions': (call) => {
    const usage = tokens(call);
    const choices = [{ text: words.join(''), index: 0, finish_reason: 'stop' }];
    return { body: { ...chatBody(call, usage), object: 'text_completion', choices }, usage };
  },
  '/responses': (call) => {
    const usage = tokens(call);
    return { body: responseOf(call, usage), usage };
  },
  '/embeddings': (call) => {
    const inputTokens = upTo(call, 500);
    const data = [{ object: 'embedding', index: 0, embedding: [0.25, 0.5] }];
    const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens };
    return { body: { object: 'list', data, model: call.model, usage }, usage: { inputTokens } };
  },
  '/moderations': (call) => ({ body: { id: 'modr-1', model: call.model, results: [{ flagged: false }] }, usage: {} }),
  '/images/generations': (call) => pictures(call),
  '/images/edits': (call) => pictures(call),
  '/images/variations': (call) => pictures(call),
  '/audio/transcriptions': (call) => {
    const seconds = upTo(call, 90);
    return { body: { text: words.join(''), usage: { type: 'duration', seconds } }, usage: { seconds } };
  },
  '/audio/translations': (call) => {
    const seconds = upTo(call, 90) + 0.5;
    return { body: { language: 'english', duration: seconds, text: words.join(''), segments: [] }, usage: { seconds } };
  },
  '/videos': (call) => {
    const seconds = Number(field(call.text, 'seconds'));
    const body = {
      id: `video_${call.number}`,
      object: 'video',
      model: call.model,
      status: 'queued',
      seconds: `${seconds}`,
    };
    return { body, usage: { seconds } };
  },
};

function pictures(call: Call): ReturnType<Whole> {
  const images = Number(/"n":(\d+)|name="n"\r\n\r\n(\d+)/.exec(call.text)?.slice(1).find(Boolean) ?? 1);
  const { inputTokens, outputTokens } = tokens(call);
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
  const body = { created: 1, data: [{ b64_json: 'AAAA' }], usage };
  return { body, usage: { inputTokens, outputTokens, images } };
}

function responseOf(call: Call, used: Usage) {
  const content = [{ type: 'output_text', text: words.join(''), annotations: [] }];
  const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }];
  const usage = call.course === 'untold' ? null : responsesUsageOf(used);
  return { id: `resp_${call.number}`, object: 'response', status: 'completed', model: call.model, output, usage };
}

/** A stream: one event for each word, and the final events with the usage. */
interface Stream {
  word(call: Call, text: string): string;
  end(call: Call, usage: Usage): string;
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const typed = (value: { type: string } & Record<string, unknown>) => `event: ${value.type}\n${data(value)}`;
const chunk = (call: Call, choices: object[], more: object = {}) =>
  data({
    id: `chatcmpl-${call.number}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: call.model,
    choices,
    ...more,
  });

export const streams: Record<string, Stream> = {
  '/chat/completions': {
    word: (call, content) => chunk(call, [{ index: 0, delta: { content }, finish_reason: null }], { usage: null }),
    end: (call, usage) =>
      chunk(call, [{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: null }) +
      (call.course === 'untold' ? '' : chunk(call, [], { usage: chatUsageOf(usage) })) +
      'data: [DONE]\n\n',
  },
  '/completions': {
    word: (call, text) => chunk(call, [{ index: 0, text, finish_reason: null }], { usage: null }),
    end: (call, usage) =>
      chunk(call, [{ index: 0, text: '', finish_reason: 'stop' }], { usage: null }) +
      (call.course === 'untold' ? '' : chunk(call, [], { usage: chatUsageOf(usage) })) +
      'data: [DONE]\n\n',
  },
  '/responses': {
    word: (_call, delta) => typed({ type: 'response.output_text.delta', delta }),
    end: (call, usage) => {
      return typed({ type: 'response.completed', response: responseOf(call, usage) });
    },
  },
};
