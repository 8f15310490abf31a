/** `POST /completions`, the legacy route. */
import type { Call } from './call.ts';
import { beforeStop, completionUsage } from './chat.ts';
import { readIncludeUsage, readStop } from './chat-request.ts';
import { composeAnswer } from './conversation.ts';
import { missingParameter } from './demo-error.ts';
import { newId } from './ids.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { events, json, type Reply, type ServerEvent } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { countTokens, limitTokens, tokenize } from './tokens.ts';

/** OpenAI's default on this route. */
const DEFAULT_MAX_TOKENS = 16;

interface Choice {
  text: string;
  finishReason: 'stop' | 'length';
}

export function createCompletionRoutes(context: RouteContext): Route[] {
  return [{ method: 'POST', path: '/completions', handle: (call) => complete(call, context) }];
}

async function complete(call: Call, context: RouteContext): Promise<Reply> {
  const parameters = await call.parameters();
  const head = { id: newId('cmpl-'), object: 'text_completion', created: Math.floor(context.now() / 1000) };
  const frame = { ...head, model: modelOf(parameters, 'completions') };
  const prompts = readPrompts(parameters);
  const choices = makeChoices(parameters, prompts);
  const usage = completionUsage(sumTokens(prompts), sumTokens(choices.map((choice) => choice.text)));
  if (parameters.boolean('stream')) {
    return events(completionEvents({ frame, choices, usage: readIncludeUsage(parameters) ? usage : undefined }));
  }
  return json({
    ...frame,
    choices: choices.map((choice, index) => wireChoice(index, choice.text, choice.finishReason)),
    usage,
  });
}

/** One prompt or several. Token numbers are shown as numbers, because the demo has no vocabulary. */
function readPrompts(parameters: Parameters): string[] {
  const prompt = parameters.raw('prompt');
  if (prompt === undefined) throw missingParameter('prompt');
  const isOne = !Array.isArray(prompt) || typeof prompt[0] === 'number';
  return (isOne ? [prompt] : prompt).map((item: unknown) => (Array.isArray(item) ? item.join(' ') : String(item)));
}

function makeChoices(parameters: Parameters, prompts: readonly string[]): Choice[] {
  const perPrompt = parameters.integer('n', { min: 1, max: 128 }) ?? 1;
  const maxTokens = parameters.integer('max_tokens', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? DEFAULT_MAX_TOKENS;
  const stop = readStop(parameters);
  const echo = parameters.boolean('echo');
  return prompts.flatMap((prompt) => {
    const { text, isCut } = limitTokens(beforeStop(answerTo(prompt), stop), maxTokens);
    const choice: Choice = { text: echo ? prompt + text : text, finishReason: isCut ? 'length' : 'stop' };
    return Array.from({ length: perPrompt }, () => choice);
  });
}

function answerTo(prompt: string): string {
  const answer = composeAnswer({
    turns: [{ role: 'user', text: prompt, attachments: [] }],
    tools: [],
    toolChoice: { mode: 'none' },
    allowsParallelCalls: false,
    schema: undefined,
    thinks: false,
  });
  return answer.kind === 'text' ? answer.text : '';
}

function sumTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

function wireChoice(index: number, text: string, finishReason: Choice['finishReason'] | null) {
  return { text, index, logprobs: null, finish_reason: finishReason };
}

interface CompletionStream {
  frame: object;
  choices: readonly Choice[];
  /** Only with `include_usage`. */
  usage: object | undefined;
}

function* completionEvents({ frame, choices, usage }: CompletionStream): Generator<ServerEvent> {
  const noUsage = usage ? { usage: null } : {};
  for (const [index, choice] of choices.entries()) {
    for (const token of tokenize(choice.text)) {
      yield { data: { ...frame, choices: [wireChoice(index, token, null)], ...noUsage } };
    }
    yield { data: { ...frame, choices: [wireChoice(index, '', choice.finishReason)], ...noUsage } };
  }
  if (usage) yield { data: { ...frame, choices: [], usage } };
  yield { data: '[DONE]' };
}
