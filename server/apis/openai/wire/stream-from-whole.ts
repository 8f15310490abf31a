/**
 * Converts a whole response into the events of a stream, for an upstream that ignores `stream: true`. Without it, SDKs
 * would report a stream with neither events nor an error. Pure.
 */
import { isObject } from '../../../contract/is-object.ts';

type Json = Record<string, unknown>;

/** For a chat or legacy completion; null for anything else. */
export function chatStreamFromWhole(answer: Json): string | null {
  return Array.isArray(answer.choices) ? chatEvents(answer, answer.choices.filter(isObject)) : null;
}

/** For a response object; null for anything else. */
export function responseStreamFromWhole(answer: Json): string | null {
  return Array.isArray(answer.output) ? responseEvents(answer, answer.output) : null;
}

/** Includes a usage chunk, which is removed again if the client did not ask for it. */
function chatEvents({ choices: _, usage, ...shared }: Json, choices: readonly Json[]): string {
  const head = { ...shared, object: shared.object === 'text_completion' ? shared.object : 'chat.completion.chunk' };
  const chunks: Json[] = [{ ...head, choices: choices.map(contentOf) }];
  const endings = choices.filter(({ message }) => isObject(message)).map(endOf);
  if (endings.length > 0) chunks.push({ ...head, choices: endings });
  if (usage) chunks.push({ ...head, choices: [], usage });
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** In a legacy completion, text has the same place with and without streaming. */
function contentOf({ message, ...choice }: Json): Json {
  if (!isObject(message)) return choice;
  const { tool_calls: calls, ...delta } = message;
  const numbered = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {};
  return { ...choice, delta: { ...delta, ...numbered }, finish_reason: null };
}

function endOf({ index, finish_reason }: Json): Json {
  return { index, delta: {}, logprobs: null, finish_reason: finish_reason ?? 'stop' };
}

function responseEvents(response: Json, output: readonly unknown[]): string {
  const startedResponse = { ...response, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: startedResponse },
    { type: 'response.in_progress', response: startedResponse },
    ...output.filter(isObject).flatMap(itemEvents),
    { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
  ];
  return events.map((event, index) => numbered(event, index)).join('');
}

function numbered({ type, ...event }: Json, sequenceNumber: number): string {
  const data = JSON.stringify({ type, sequence_number: sequenceNumber, ...event });
  return `event: ${type}\ndata: ${data}\n\n`;
}

function itemEvents(item: Json, index: number): Json[] {
  const position = { item_id: item.id, output_index: index };
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, ...emptied(item) } },
    ...(Array.isArray(item.content)
      ? item.content.filter(isObject).flatMap((part, at) => partEvents(part, at, position))
      : []),
    ...(typeof item.arguments === 'string' ? argumentEvents(item.arguments, position) : []),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function emptied({ content, arguments: callArguments }: Json): Json {
  const status = { status: 'in_progress' };
  if (Array.isArray(content)) return { ...status, content: [] };
  return typeof callArguments === 'string' ? { ...status, arguments: '' } : {};
}

function partEvents(part: Json, index: number, position: Json): Json[] {
  const at = { ...position, content_index: index };
  const name = part.type === 'refusal' ? 'refusal' : 'text';
  const kind = part.type === 'refusal' ? 'response.refusal' : `response.${part.type}`;
  const value = part[name];
  const hasDeltas = typeof value === 'string' && textTypes.has(part.type);
  return [
    { type: 'response.content_part.added', ...at, part: hasDeltas ? { ...part, [name]: '' } : part },
    ...(hasDeltas
      ? [
          { type: `${kind}.delta`, ...at, delta: value },
          { type: `${kind}.done`, ...at, [name]: value },
        ]
      : []),
    { type: 'response.content_part.done', ...at, part },
  ];
}

const textTypes = new Set<unknown>(['output_text', 'reasoning_text', 'refusal']);

function argumentEvents(callArguments: string, position: Json): Json[] {
  return [
    { type: 'response.function_call_arguments.delta', ...position, delta: callArguments },
    { type: 'response.function_call_arguments.done', ...position, arguments: callArguments },
  ];
}
