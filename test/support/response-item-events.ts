type Delta = 'reasoning_summary_text' | 'output_text' | 'function_call_arguments' | 'custom_tool_call_input';

const partOf: { [kind in Delta]?: string } = {
  reasoning_summary_text: 'reasoning_summary_part',
  output_text: 'content_part',
};

/**
 * The types of the events for one item in a stream of OpenAI's Responses API, in order and without `response.`.
 * `deltas` is the number of pieces in which the item arrives. Source: OpenAI's API reference, "Streaming events".
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
