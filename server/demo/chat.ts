/** `POST /chat/completions`, whole and streamed. Responses are translated to it, as for any provider that has chat alone. */
import { isObject } from '../contract/is-object.ts';
import { answerTo, inputTokensOf, tokensOf } from './answer.ts';
import type { Call } from './call.ts';
import { events, json, newId, type Reply, type ServerEvent } from './reply.ts';

export function completeChat({ fields, now }: Call): Reply {
  const { messages, model, stream, stream_options: options } = fields;
  const answer = tokensOf(asAsked(fields, answerTo(messages)));
  const tokens = answer.slice(0, Number(fields.max_completion_tokens ?? fields.max_tokens ?? answer.length));
  const finish = tokens.length < answer.length ? 'length' : 'stop';
  const head = { id: newId('chatcmpl-'), created: Math.floor(now() / 1000), model };
  const usage = usageOf(inputTokensOf(messages), tokens.length);
  if (stream === true) {
    const withUsage = isObject(options) && options.include_usage === true;
    return events(chunks({ head, tokens, finish, usage: withUsage ? usage : null }));
  }
  const message = { role: 'assistant', content: tokens.join(''), refusal: null, annotations: [] };
  const choice = { index: 0, message, logprobs: null, finish_reason: finish };
  return json({ ...head, object: 'chat.completion', choices: [choice], usage });
}

/** An object if the client will parse the answer. The demo fits it to no schema. */
function asAsked({ response_format: format }: Call['fields'], text: string): string {
  const isJson = isObject(format) && String(format.type).startsWith('json');
  return isJson ? JSON.stringify({ message: text }) : text;
}

function usageOf(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

interface ChatStream {
  /** The fields that every chunk repeats. */
  head: object;
  tokens: readonly string[];
  finish: string;
  /** Sent as a last chunk without choices; null if the client did not ask for it. */
  usage: object | null;
}

function* chunks({ head, tokens, finish, usage }: ChatStream): Generator<ServerEvent> {
  const chunk = (fields: object) => ({ data: { ...head, object: 'chat.completion.chunk', ...fields } });
  const choice = (delta: object, reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  yield choice({ role: 'assistant', content: '' });
  for (const content of tokens) yield choice({ content });
  yield choice({}, finish);
  if (usage) yield chunk({ choices: [], usage });
  yield { data: '[DONE]' };
}
