/** The events of a streamed response in OpenAI's order, derived from the finished response. */
import { type ServerEvent, typedEvent } from './reply.ts';
import { type OutputItem, outputText, type ResponseObject, summaryText } from './response-object.ts';
import { pendingResponse } from './response-store.ts';
import { tokenize } from './tokens.ts';

interface TypedFields {
  type: string;
  [field: string]: unknown;
}

/** All events after the one with that `sequence_number`; `-1` gives all of them. */
export function* responseEvents(response: ResponseObject, startingAfter = -1): Generator<ServerEvent> {
  let sequenceNumber = 0;
  for (const fields of eventFields(response)) {
    if (sequenceNumber > startingAfter) yield typedEvent({ ...fields, sequence_number: sequenceNumber });
    sequenceNumber += 1;
  }
}

function* eventFields(response: ResponseObject): Generator<TypedFields> {
  const first = pendingResponse(response, response.background ? 'queued' : 'in_progress');
  yield { type: 'response.created', response: first };
  if (response.background) yield { type: 'response.queued', response: first };
  yield { type: 'response.in_progress', response: pendingResponse(response, 'in_progress') };
  for (const [index, item] of response.output.entries()) yield* itemEvents(item, index);
  yield { type: `response.${response.status}`, response };
}

function* itemEvents(item: OutputItem, outputIndex: number): Generator<TypedFields> {
  yield { type: 'response.output_item.added', output_index: outputIndex, item: begunItem(item) };
  const position = { item_id: item.id, output_index: outputIndex };
  if (item.type === 'message') yield* textEvents(item.content[0]?.text ?? '', { ...position, content_index: 0 });
  else if (item.type === 'reasoning')
    yield* thoughtEvents(item.summary[0]?.text ?? '', { ...position, summary_index: 0 });
  else if (item.type === 'function_call') yield* argumentEvents(item.arguments, item.name, position);
  else yield* inputEvents(item.input, position);
  yield { type: 'response.output_item.done', output_index: outputIndex, item };
}

/** The item in its state before its first delta. */
function begunItem(item: OutputItem): OutputItem {
  const status = 'in_progress';
  if (item.type === 'message') return { ...item, status, content: [] };
  if (item.type === 'reasoning') return { ...item, summary: [] };
  return item.type === 'function_call' ? { ...item, status, arguments: '' } : { ...item, status, input: '' };
}

function* textEvents(text: string, position: object): Generator<TypedFields> {
  yield { type: 'response.content_part.added', ...position, part: outputText('') };
  for (const delta of tokenize(text)) yield { type: 'response.output_text.delta', ...position, delta, logprobs: [] };
  yield { type: 'response.output_text.done', ...position, text, logprobs: [] };
  yield { type: 'response.content_part.done', ...position, part: outputText(text) };
}

function* thoughtEvents(text: string, position: object): Generator<TypedFields> {
  yield { type: 'response.reasoning_summary_part.added', ...position, part: summaryText('') };
  for (const delta of tokenize(text)) yield { type: 'response.reasoning_summary_text.delta', ...position, delta };
  yield { type: 'response.reasoning_summary_text.done', ...position, text };
  yield { type: 'response.reasoning_summary_part.done', ...position, part: summaryText(text) };
}

function* argumentEvents(json: string, name: string, position: object): Generator<TypedFields> {
  for (const delta of tokenize(json)) yield { type: 'response.function_call_arguments.delta', ...position, delta };
  yield { type: 'response.function_call_arguments.done', ...position, name, arguments: json };
}

function* inputEvents(input: string, position: object): Generator<TypedFields> {
  for (const delta of tokenize(input)) yield { type: 'response.custom_tool_call_input.delta', ...position, delta };
  yield { type: 'response.custom_tool_call_input.done', ...position, input };
}
