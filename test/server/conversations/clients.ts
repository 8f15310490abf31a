/** The official SDK of each API, in a loop as an agent has it: it asks, runs the tools that are called, and keeps the history. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Part } from '@google/genai';
import type OpenAI from 'openai';
import type { TestGateway } from '../../support/gateway.ts';
import { claudeAt, geminiAt } from '../../support/sdk-clients.ts';

/** What is said in every conversation of the matrix: five turns, each with two calls at once and their results. */

export const turns = [1, 2, 3, 4, 5] as const;

/** The tools of the conversation, and the parameter that each takes. */
export const tools = [
  { name: 'weather', about: 'The weather of a place', parameter: 'place' },
  { name: 'picture', about: 'A picture of a place', parameter: 'title' },
] as const;

export type ToolName = (typeof tools)[number]['name'];

export interface Call {
  name: string;
  given: unknown;
}

/** A picture of one pixel. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

export const question = (turn: number) => `Question ${turn}: how is it there?`;
export const answer = (turn: number) => `Answer ${turn}: take an umbrella.`;
export const given = (turn: number, { name, parameter }: (typeof tools)[number]) => ({
  [parameter]: `the ${name} of turn ${turn}`,
});
/** Both calls, as the provider makes them. */
export const callsOf = (turn: number): Call[] => tools.map((tool) => ({ name: tool.name, given: given(turn, tool) }));

export const resultText = (turn: number, name: string) => `The ${name} of turn ${turn}: rain.`;
/** The result that has an image, where the client's API has such results. */
export const hasImage = (turn: number, name: string) => turn === 2 && name === 'picture';

/** Where a request stands in the conversation: a person asked, or the tools have answered. */
export interface Stage {
  turn: number;
  isReport: boolean;
}

/** `body`: the request as text, in any API. A text: what it lacks of the conversation. */
export function stageOf(body: string): Stage | string {
  const turn = turns.findLast((each) => body.includes(question(each)));
  if (turn === undefined) return 'The request lacks every question of the conversation.';
  for (const earlier of turns.filter((each) => each < turn)) {
    if (!body.includes(question(earlier)) || !body.includes(answer(earlier)))
      return `Turn ${turn} comes without turn ${earlier}.`;
  }
  return { turn, isReport: body.includes(resultText(turn, 'weather')) };
}

/** What a program sees of a turn. */
export interface Turn {
  calls: Call[];
  said: string | null | undefined;
}

/** A conversation that is under way. The model may change from turn to turn. */
export interface Talk {
  turn(model: string, turn: number): Promise<Turn>;
}

export interface ClientOptions {
  gateway: TestGateway;
  isStreamed: boolean;
}

const schemaOf = (parameter: string) => ({
  type: 'object' as const,
  properties: { [parameter]: { type: 'string' as const } },
  required: [parameter],
});

/** A person's image in the first turn, since results have none in this API. */
function chat({ gateway, isStreamed }: ClientOptions): Talk {
  const { completions } = gateway.client.chat;
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be brief.' }];
  const offered = tools.map(({ name, about, parameter }) => ({
    type: 'function' as const,
    function: { name, description: about, parameters: schemaOf(parameter) },
  }));
  const ask = async (model: string) => {
    const request = { model, messages, tools: offered };
    const whole = isStreamed
      ? await completions.stream(request).finalChatCompletion()
      : await completions.create(request);
    const message = whole.choices[0]?.message;
    if (!message) throw new Error('There is no choice.');
    messages.push(message);
    return message;
  };
  return {
    async turn(model, turn) {
      messages.push({ role: 'user', content: question(turn) });
      const called = ((await ask(model)).tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
      for (const {
        id,
        function: { name },
      } of called)
        messages.push({ role: 'tool', tool_call_id: id, content: resultText(turn, name) });
      const calls = called.map((call) => ({ name: call.function.name, given: JSON.parse(call.function.arguments) }));
      return { calls, said: called.length > 0 ? (await ask(model)).content : null };
    },
  };
}

function responses({ gateway, isStreamed }: ClientOptions): Talk {
  const client = gateway.client.responses;
  const input: OpenAI.Responses.ResponseInput = [];
  const offered = tools.map(({ name, about, parameter }) => ({
    ...{ type: 'function' as const, name, description: about, strict: false },
    parameters: schemaOf(parameter),
  }));
  const ask = async (model: string) => {
    const include = ['reasoning.encrypted_content' as const];
    const reasoning = { summary: 'auto' as const };
    const request = { model, input, tools: offered, instructions: 'Be brief.', store: false, include, reasoning };
    const whole = isStreamed ? await client.stream(request).finalResponse() : await client.create(request);
    input.push(...(whole.output as OpenAI.Responses.ResponseInput));
    return whole;
  };
  const resultOf = (turn: number, name: string): OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output'] =>
    hasImage(turn, name)
      ? [
          { type: 'input_text', text: resultText(turn, name) },
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'auto' },
        ]
      : resultText(turn, name);
  return {
    async turn(model, turn) {
      input.push({ role: 'user', content: question(turn) });
      const called = (await ask(model)).output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      for (const { call_id, name } of called)
        input.push({ type: 'function_call_output', call_id, output: resultOf(turn, name) });
      const calls = called.map((call) => ({ name: call.name, given: JSON.parse(call.arguments) }));
      return { calls, said: called.length > 0 ? (await ask(model)).output_text : null };
    },
  };
}

function messages({ gateway, isStreamed }: ClientOptions): Talk {
  const client = claudeAt(gateway).messages;
  const history: Anthropic.MessageParam[] = [];
  const offered = tools.map(({ name, about, parameter }) => ({
    ...{ name, description: about },
    input_schema: schemaOf(parameter),
  }));
  const ask = async (model: string) => {
    const thinking = { type: 'adaptive' as const };
    const request = { model, max_tokens: 1_000, thinking, system: 'Be brief.', messages: history, tools: offered };
    const whole = isStreamed ? await client.stream(request).finalMessage() : await client.create(request);
    history.push({ role: 'assistant', content: whole.content });
    return whole.content;
  };
  const resultOf = (turn: number, name: string): NonNullable<Anthropic.ToolResultBlockParam['content']> => [
    { type: 'text', text: resultText(turn, name) },
    ...(hasImage(turn, name)
      ? [{ type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: pixel } }]
      : []),
  ];
  return {
    async turn(model, turn) {
      history.push({ role: 'user', content: question(turn) });
      const called = (await ask(model)).filter((block) => block.type === 'tool_use');
      const calls = called.map(({ name, input }) => ({ name, given: input }));
      if (called.length === 0) return { calls, said: null };
      const results = called.map(({ id, name }) => ({
        ...{ type: 'tool_result' as const, tool_use_id: id },
        content: resultOf(turn, name),
      }));
      history.push({ role: 'user', content: results });
      // Claude Code shows the text of the last block.
      const last = (await ask(model)).at(-1);
      return { calls, said: last?.type === 'text' ? last.text : `a block of type ${last?.type}` };
    },
  };
}

/** Texts that follow each other become one, and empty ones are left out, as in Gemini CLI. */
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  const isPlain = ({ text, thought, thoughtSignature }: Part) =>
    text !== undefined && thought !== true && thoughtSignature === undefined;
  if (isPlain(part) && part.text === '') return;
  if (last && isPlain(last) && isPlain(part)) last.text = `${last.text}${part.text}`;
  else parts.push(part);
}

function generate({ gateway, isStreamed }: ClientOptions): Talk {
  const { models } = geminiAt(gateway);
  const contents: { role: string; parts: Part[] }[] = [];
  const functionDeclarations = tools.map(({ name, about, parameter }) => ({
    ...{ name, description: about },
    parametersJsonSchema: schemaOf(parameter),
  }));
  const config = {
    systemInstruction: 'Be brief.',
    tools: [{ functionDeclarations }],
    thinkingConfig: { includeThoughts: true },
  };
  const ask = async (model: string) => {
    const parts: Part[] = [];
    const request = { model, contents, config };
    const answers = isStreamed ? await models.generateContentStream(request) : [await models.generateContent(request)];
    for await (const { candidates } of answers)
      for (const part of candidates?.[0]?.content?.parts ?? []) addPart(parts, part);
    contents.push({ role: 'model', parts });
    return parts;
  };
  const resultOf = (turn: number, { id, name = '' }: { id?: string; name?: string }): Part => ({
    functionResponse: {
      ...{ name, ...(id !== undefined && { id }), response: { output: resultText(turn, name) } },
      ...(hasImage(turn, name) && { parts: [{ inlineData: { mimeType: 'image/png', data: pixel } }] }),
    },
  });
  return {
    async turn(model, turn) {
      contents.push({ role: 'user', parts: [{ text: question(turn) }] });
      const called = (await ask(model)).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
      const calls = called.map(({ name = '', args }) => ({ name, given: args }));
      if (called.length === 0) return { calls, said: null };
      contents.push({ role: 'user', parts: called.map((call) => resultOf(turn, call)) });
      const said = (await ask(model)).map(({ text, thought }) => (thought ? '' : (text ?? ''))).join('');
      return { calls, said };
    },
  };
}

export const clients = { chat, responses, messages, generate } as const;
export type ClientName = keyof typeof clients;
