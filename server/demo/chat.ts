/** `POST /chat/completions`, plain and streamed, with chunks in OpenAI's order. */
import type { Call } from './call.ts';
import { type ChatRequest, readChatRequest } from './chat-request.ts';
import {
  type Answer,
  composeAnswer,
  countAnswerTokens,
  countConversationTokens,
  type ToolCall,
} from './conversation.ts';
import { newId } from './ids.ts';
import { events, json, type Reply, type ServerEvent } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { limitTokens, tokenize } from './tokens.ts';

interface Choice {
  answer: Answer;
  /** The answer's calls, with ids. */
  calls: readonly IdentifiedCall[];
  finishReason: 'stop' | 'length' | 'tool_calls';
}

type IdentifiedCall = ToolCall & { id: string };

export function createChatRoutes(context: RouteContext): Route[] {
  return [{ method: 'POST', path: '/chat/completions', handle: (call) => completeChat(call, context) }];
}

async function completeChat(call: Call, context: RouteContext): Promise<Reply> {
  const request = readChatRequest(await call.parameters());
  const choices = Array.from({ length: request.choices }, (_, index) => makeChoice(request, index));
  const head = { id: newId('chatcmpl-'), created: Math.floor(context.now() / 1000), model: request.model };
  const tail = { service_tier: 'default', system_fingerprint: 'fp_sluice_demo' };
  const usage = chatUsage(request, choices);
  if (request.stream) return events(chatEvents({ request, choices, usage, frame: { ...head, ...tail } }));
  const completed = choices.map((choice, index) => completedChoice(choice, index));
  return json({ ...head, object: 'chat.completion', choices: completed, usage, ...tail });
}

function makeChoice(request: ChatRequest, index: number): Choice {
  const answer = composeAnswer(request.conversation);
  if (answer.kind === 'calls') {
    const calls = answer.calls.map((call) => ({ ...call, id: newId('call_') }));
    return { answer, calls, finishReason: 'tool_calls' };
  }
  const isNumbered = index > 0 && request.conversation.schema === undefined;
  const whole = isNumbered ? `${answer.text} (${index + 1})` : answer.text;
  const { text, isCut } = limitTokens(beforeStop(whole, request.stop), request.maxTokens);
  return { answer: { ...answer, text }, calls: [], finishReason: isCut ? 'length' : 'stop' };
}

/** The text before the first of the stop strings. */
export function beforeStop(text: string, stop: readonly string[]): string {
  const ends = stop.map((mark) => text.indexOf(mark)).filter((position) => position >= 0);
  return text.slice(0, Math.min(...ends, text.length));
}

export function completionUsage(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function chatUsage(request: ChatRequest, choices: readonly Choice[]) {
  const completionTokens = choices.reduce((sum, choice) => sum + countAnswerTokens(choice.answer), 0);
  return completionUsage(countConversationTokens(request.conversation), completionTokens);
}

function completedChoice(choice: Choice, index: number) {
  const content = choice.answer.kind === 'text' ? choice.answer.text : null;
  const calls = choice.calls.length > 0 ? { tool_calls: choice.calls.map((call) => wireCall(call, call.input)) } : {};
  const { reasoning } = choice.answer;
  const thought = reasoning === undefined ? {} : { reasoning_content: reasoning };
  const message = { role: 'assistant', content, refusal: null, annotations: [], ...thought, ...calls };
  return { index, message, logprobs: null, finish_reason: choice.finishReason };
}

function wireCall(call: IdentifiedCall, input: string) {
  const { id, kind, name } = call;
  if (kind === 'function') return { id, type: 'function', function: { name, arguments: input } };
  return { id, type: 'custom', custom: { name, input } };
}

interface ChatStream {
  request: ChatRequest;
  choices: readonly Choice[];
  usage: ReturnType<typeof completionUsage>;
  /** The fields that every chunk repeats. */
  frame: object;
}

/** With `include_usage` every chunk has `"usage": null`, and one more chunk without choices carries the usage. */
function* chatEvents({ request, choices, usage, frame }: ChatStream): Generator<ServerEvent> {
  const chunk = (fields: object): ServerEvent => ({ data: { ...frame, object: 'chat.completion.chunk', ...fields } });
  const noUsage = request.includeUsage ? { usage: null } : {};
  for (const [index, choice] of choices.entries()) {
    for (const delta of choiceDeltas(choice)) {
      yield chunk({ choices: [{ index, delta, logprobs: null, finish_reason: null }], ...noUsage });
    }
    yield chunk({ choices: [{ index, delta: {}, logprobs: null, finish_reason: choice.finishReason }], ...noUsage });
  }
  if (request.includeUsage) yield chunk({ choices: [], usage });
  yield { data: '[DONE]' };
}

function* choiceDeltas(choice: Choice): Generator<object> {
  const { reasoning = '' } = choice.answer;
  if (choice.answer.kind === 'text') {
    yield { role: 'assistant', content: '', refusal: null };
    for (const thought of tokenize(reasoning)) yield { reasoning_content: thought };
    for (const content of tokenize(choice.answer.text)) yield { content };
    return;
  }
  yield { role: 'assistant', content: null };
  for (const thought of tokenize(reasoning)) yield { reasoning_content: thought };
  for (const [index, call] of choice.calls.entries()) {
    yield { tool_calls: [{ index, ...wireCall(call, '') }] };
    for (const fragment of tokenize(call.input)) yield { tool_calls: [{ index, ...fragmentOf(call, fragment) }] };
  }
}

function fragmentOf(call: ToolCall, fragment: string) {
  return call.kind === 'function' ? { function: { arguments: fragment } } : { custom: { input: fragment } };
}
