/** Assembles the events of an Anthropic message. */
import { type Json, numberOf, objectOf, textOf } from './json-values.ts';

export function assembleMessage(events: readonly Json[]): { answer: Json; isComplete: boolean } {
  let message: Json = { type: 'message', role: 'assistant' };
  const blocks = new Map<number, Json>();
  const inputs = new Map<number, string>();
  for (const event of events) {
    const index = numberOf(event.index) ?? 0;
    if (event.type === 'message_start') message = { ...objectOf(event.message) };
    else if (event.type === 'content_block_start') blocks.set(index, { ...objectOf(event.content_block) });
    else if (event.type === 'content_block_delta') {
      const delta = objectOf(event.delta);
      if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + textOf(delta.partial_json));
      else blocks.set(index, withDelta(blocks.get(index) ?? {}, delta));
    } else if (event.type === 'message_delta') {
      const usage = { ...objectOf(message.usage), ...objectOf(event.usage) };
      message = { ...message, ...objectOf(event.delta), usage };
    }
  }
  for (const [index, input] of inputs) blocks.set(index, { ...blocks.get(index), input: parsedInput(input) });
  const content = [...blocks.entries()].sort(([one], [other]) => one - other).map(([, block]) => block);
  return { answer: { ...message, content }, isComplete: events.some(({ type }) => type === 'message_stop') };
}

function withDelta(block: Json, delta: Json): Json {
  switch (delta.type) {
    case 'text_delta':
      return { type: 'text', ...block, text: textOf(block.text) + textOf(delta.text) };
    case 'thinking_delta':
      return { type: 'thinking', ...block, thinking: textOf(block.thinking) + textOf(delta.thinking) };
    case 'signature_delta':
      return { ...block, signature: textOf(block.signature) + textOf(delta.signature) };
    case 'citations_delta': {
      const citations = Array.isArray(block.citations) ? block.citations : [];
      return { ...block, citations: [...citations, delta.citation] };
    }
    default:
      return block;
  }
}

/** A call without input has no input deltas. Truncated input stays as the text received. */
function parsedInput(input: string): unknown {
  try {
    return input === '' ? {} : JSON.parse(input);
  } catch {
    return input;
  }
}
