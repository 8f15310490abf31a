type Delta = 'reasoning_summary_text' | 'output_text' | 'function_call_arguments' | 'custom_tool_call_input';

const partOf: { [kind in Delta]?: string } = {
  reasoning_summary_text: 'reasoning_summary_part',
  output_text: 'content_part',
};

/**
 * The types of the events that tell of one item in a stream of OpenAI's Responses, in their order and without `response.`.
 * After OpenAI's API reference, "Streaming events". `deltas`: in how many pieces the item comes.
 */
export function itemEvents(kind: Delta, deltas = 1): string[] {
  const part = partOf[kind];
  return [
    'output_item.added',
    ...(part ? [`${part}.added`] : []),
    ...Array<string>(deltas).fill(`${kind}.delta`),
    `${kind}.done`,
    ...(part ? [`${part}.done`] : []),
    'output_item.done',
  ];
}
