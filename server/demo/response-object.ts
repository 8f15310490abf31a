/** Builds the `response` object of the Responses API from a request and its answer. */
import { type Answer, countAnswerTokens, countConversationTokens, type ToolCall } from './conversation.ts';
import { newId } from './ids.ts';
import type { ResponseRequest } from './response-request.ts';
import { limitTokens } from './tokens.ts';

interface OutputText {
  type: 'output_text';
  text: string;
  annotations: readonly never[];
  logprobs: readonly never[];
}

export type OutputItem =
  | { id: string; type: 'reasoning'; summary: readonly { type: 'summary_text'; text: string }[] }
  | { id: string; type: 'message'; status: string; role: 'assistant'; content: readonly OutputText[] }
  | { id: string; type: 'function_call'; status: string; call_id: string; name: string; arguments: string }
  | { id: string; type: 'custom_tool_call'; status: string; call_id: string; name: string; input: string };

export interface ResponseObject {
  id: string;
  object: 'response';
  created_at: number;
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'cancelled';
  background: boolean;
  completed_at: number | null;
  error: null;
  incomplete_details: { reason: 'max_output_tokens' } | null;
  model: string;
  output: readonly OutputItem[];
  usage: ReturnType<typeof responseUsage> | null;
  /** The request's settings, repeated. */
  [setting: string]: unknown;
}

export function createResponse(request: ResponseRequest, answer: Answer, nowMs: number): ResponseObject {
  const { answer: limited, isCut } = limitAnswer(answer, request.maxOutputTokens);
  const createdAt = Math.floor(nowMs / 1000);
  return {
    id: newId('resp_'),
    object: 'response',
    created_at: createdAt,
    status: isCut ? 'incomplete' : 'completed',
    background: request.background,
    completed_at: isCut ? null : createdAt + (request.background ? 1 : 0),
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: request.model,
    output: outputItems(limited, isCut ? 'incomplete' : 'completed'),
    usage: responseUsage(countConversationTokens(request.conversation), countAnswerTokens(limited)),
    ...request.echo,
  };
}

export function outputText(text: string): OutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function summaryText(text: string) {
  return { type: 'summary_text', text } as const;
}

export function responseUsage(inputTokens: number, outputTokens: number) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

function limitAnswer(answer: Answer, maxTokens: number): { answer: Answer; isCut: boolean } {
  if (answer.kind === 'calls') return { answer, isCut: false };
  const { text, isCut } = limitTokens(answer.text, maxTokens);
  return { answer: { ...answer, text }, isCut };
}

function outputItems(answer: Answer, status: string): OutputItem[] {
  const { reasoning } = answer;
  const thought: OutputItem[] =
    reasoning === undefined ? [] : [{ id: newId('rs_'), type: 'reasoning', summary: [summaryText(reasoning)] }];
  if (answer.kind === 'calls') return [...thought, ...answer.calls.map(callItem)];
  return [
    ...thought,
    { id: newId('msg_'), type: 'message', status, role: 'assistant', content: [outputText(answer.text)] },
  ];
}

function callItem({ kind, name, input }: ToolCall): OutputItem {
  const call = { status: 'completed', call_id: newId('call_'), name };
  if (kind === 'custom') return { id: newId('ctc_'), type: 'custom_tool_call', ...call, input };
  return { id: newId('fc_'), type: 'function_call', ...call, arguments: input };
}
