/** Long conversations of coding agents, in the format of each client API. */
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import type { Json } from './translating.ts';

interface Turn {
  id: string;
  given: Json;
  said: string;
  result: string;
}

const line = 'export function total(lines: readonly Line[]): number { return sum(lines, "amount") ?? 0; } // ünïcode\n';

function turnsOf(bytes: number, calls: number): Turn[] {
  const result = line.repeat(Math.ceil(bytes / calls / Buffer.byteLength(line)));
  return Array.from({ length: calls }, (_, index) => ({
    id: `call_${index}`,
    given: { path: `src/file-${index}.ts`, lines: [index, 1 + index] },
    said: `Now I read file ${index}.`,
    result,
  }));
}

const system = 'You are a careful programmer.';
const task = 'Find the bug in the invoice.';
const tool = {
  name: 'read_file',
  description: 'Reads lines of a file',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
    required: ['path'],
  },
};

const histories: Record<WireName, (turns: readonly Turn[]) => Json> = {
  'openai-chat': (turns) => ({
    model: 'm',
    stream: true,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        {
          role: 'assistant',
          content: said,
          tool_calls: [{ id, type: 'function', function: { name: tool.name, arguments: JSON.stringify(given) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ]),
    ],
    tools: [{ type: 'function', function: tool }],
  }),
  'openai-responses': (turns) => ({
    model: 'm',
    stream: true,
    store: false,
    instructions: system,
    input: [
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said, annotations: [] }] },
        { type: 'function_call', call_id: id, name: tool.name, arguments: JSON.stringify(given) },
        { type: 'function_call_output', call_id: id, output: result },
      ]),
    ],
    tools: [{ type: 'function', ...tool }],
  }),
  'anthropic-messages': (turns) => ({
    model: 'm',
    stream: true,
    max_tokens: 1000,
    system,
    messages: [
      { role: 'user', content: task },
      ...turns.flatMap(({ id, given, said, result }) => [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: said },
            { type: 'tool_use', id, name: tool.name, input: given },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      ]),
    ],
    tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
  }),
  'gemini-generate': (turns) => ({
    model: 'm',
    stream: true,
    systemInstruction: { parts: [{ text: system }] },
    contents: [
      { role: 'user', parts: [{ text: task }] },
      ...turns.flatMap(({ given, said, result }) => [
        { role: 'model', parts: [{ text: said }, { functionCall: { name: tool.name, args: given } }] },
        { role: 'user', parts: [{ functionResponse: { name: tool.name, response: { output: result } } }] },
      ]),
    ],
    tools: [{ functionDeclarations: [tool] }],
  }),
};

/** @param bytes total size of the tools' results */
export function longHistory(client: WireName, bytes: number, calls: number): Buffer {
  return Buffer.from(JSON.stringify(histories[client](turnsOf(bytes, calls))));
}
