/**
 * Requests with two long lists that refer to each other, for each API translated to each other one: a look-up of each
 * item in the whole other list takes quadratic time.
 */
import type { UpstreamWireName, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import type { WorstCase, WorstInput } from '../../worst-cases.ts';
import { moment, streamed, targetOf, translate, translatorOf } from './translating.ts';

// The most expensive citations that upstreams could send to clients that are told of them.

const kilobyte = 1024;

const asked: Partial<Record<WireName, object>> = {
  'openai-responses': { model: 'm', input: 'x', stream: true },
  'gemini-generate': { model: 'm', contents: [{ parts: [{ text: 'x' }] }], stream: true },
};

/** Whole answers, and streams if the bytes are one. */
function answers(from: WireName, to: UpstreamWireName, model: string): (bytes: Buffer) => void {
  const request = translate({ from, to, model }, asked[from] ?? {});
  return (bytes) => {
    if (bytes.subarray(0, 5).toString() === 'data:') streamed(request, [bytes]);
    else {
      request.whole(bytes, moment);
      request.wholeAsEvents(bytes, moment);
    }
  };
}

const long = 'ä🚀'.repeat(4000);
const annotation = '{"type":"url_citation","url":"x","start_index":0,"end_index":11000},';
const chunk = (delta: string) => `data: {"choices":[{"delta":${delta}}]}\n\n`;

export const worstCitations: Record<string, WorstCase> = {
  'an answer of a chat that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: ['AnswerText'],
    inputs: {
      annotations: [`{"choices":[{"message":{"content":"${long}","annotations":[`, annotation, '{}]}}]}'],
      'a list of sources': ['{"choices":[{"message":{"content":"x"}}],"citations":[', '"x",', '""]}'],
      'annotations in pieces': [chunk('{"content":"x"}'), chunk(`{"content":"ä","annotations":[${annotation}{}]}`), ''],
    },
    run: answers('gemini-generate', 'openai-chat', 'kimi-k3'),
  },
  'a response that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      annotations: [
        `{"output":[{"type":"message","content":[{"type":"output_text","text":"${long}","annotations":[`,
        annotation,
        '{}]}]}]}',
      ],
      'texts with annotations': [
        '{"output":[',
        `{"type":"message","content":[{"type":"output_text","text":"x","annotations":[${annotation}{}]}]},`,
        '{}]}',
      ],
    },
    run: answers('gemini-generate', 'openai-responses', 'gpt-5.4'),
  },
  'an answer of Gemini that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      supports: [
        `{"candidates":[{"content":{"parts":[{"text":"${long}"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"x"}}],"groundingSupports":[`,
        '{"segment":{"startIndex":2,"endIndex":20000},"groundingChunkIndices":[0,0]},',
        '{}]}}]}',
      ],
      pages: ['{"candidates":[{"groundingMetadata":{"groundingChunks":[', '{"web":{"uri":"x"}},', '{}]}}]}'],
    },
    run: answers('openai-responses', 'gemini-generate', 'gemini-3-pro'),
  },
  'a message that cites': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      blocks: ['{"content":[', '{"type":"text","text":"ä","citations":[{"url":"x"}]},', '{"type":"text","text":"x"}]}'],
      citations: [`{"content":[{"type":"text","text":"${long}","citations":[`, '{"url":"x"},', '{}]}]}'],
    },
    run: answers('openai-responses', 'anthropic-messages', 'claude-sonnet-4-5'),
  },
};

/** Those of the most elaborate form: `gpt-5-pro` accepts custom tools and a choice of tools. */
const models: Record<UpstreamWireName, string> = {
  'openai-chat': 'kimi-k3',
  'openai-responses': 'gpt-5-pro',
  'anthropic-messages': 'claude-sonnet-4-5',
  'gemini-generate': 'gemini-3-pro',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5',
};

type Json = Record<string, unknown>;

/** The parts of a request, in one API's words. */
interface Words {
  request(members: Json): Json;
  tool(name: string, schema?: Json): unknown;
  /** The members that offer the tools, and allow those with these names; null if the API has no such choice. */
  allowing: ((tools: unknown[], names: readonly string[]) => Json) | null;
  /** The member with a conversation of these calls, then their results in this order. */
  conversation(calls: readonly string[], results: readonly string[]): Json;
  /** The members that ask for an answer of this schema; null if the API has none. */
  format: ((schema: Json) => Json) | null;
}

const words: Record<WireName, Words> = {
  'openai-chat': {
    request: (members) => ({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...members }),
    tool: (name, parameters) => ({ type: 'function', function: { name, parameters } }),
    allowing: (tools, names) => ({
      tools,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: names.map((name) => ({ type: 'function', function: { name } })) },
      },
    }),
    conversation: (calls, results) => ({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: calls.map((id) => ({ id, function: { name: id, arguments: '{}' } })) },
        ...results.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
      ],
    }),
    format: (schema) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
    }),
  },
  'openai-responses': {
    request: (members) => ({ model: 'm', input: 'x', store: false, ...members }),
    tool: (name, parameters) => ({ type: 'function', name, parameters }),
    allowing: (tools, names) => ({
      tools,
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: names.map((name) => ({ type: 'function', name })),
      },
    }),
    conversation: (calls, results) => ({
      input: [
        { role: 'user', content: 'x' },
        ...calls.map((id) => ({ type: 'function_call', call_id: id, name: id, arguments: '{}' })),
        ...results.map((id) => ({ type: 'function_call_output', call_id: id, output: 'x' })),
      ],
    }),
    format: (schema) => ({ text: { format: { type: 'json_schema', name: 'x', strict: true, schema } } }),
  },
  'anthropic-messages': {
    request: (members) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], ...members }),
    tool: (name, schema) => ({ name, input_schema: { type: 'object', ...schema } }),
    allowing: null,
    conversation: (calls, results) => ({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: calls.map((id) => ({ type: 'tool_use', id, name: id, input: {} })) },
        { role: 'user', content: results.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })) },
      ],
    }),
    format: (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  },
  'gemini-generate': {
    request: (members) => ({ contents: [{ role: 'user', parts: [{ text: 'x' }] }], ...members }),
    tool: (name, schema) => ({ name, parametersJsonSchema: schema }),
    allowing: (tools, names) => ({
      tools: [{ functionDeclarations: tools }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: names } },
    }),
    conversation: (calls, results) => ({
      contents: [
        { role: 'user', parts: [{ text: 'x' }] },
        { role: 'model', parts: calls.map((name) => ({ functionCall: { name, args: {} } })) },
        { role: 'user', parts: results.map((name) => ({ functionResponse: { name, response: {} } })) },
      ],
    }),
    format: (schema) => ({ generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
  },
};

/** As many names as fit, if a request takes `bytesEach` bytes for each. */
function namesFor(bytes: number, bytesEach: number, beginning = 'n'): string[] {
  return Array.from({ length: Math.ceil(bytes / bytesEach) }, (_, index) => `${beginning}${index}`);
}

/**
 * V8 compares names of up to ten characters by their address, so that a quadratic look-up shows only in long lists.
 */
function longNamesFor(bytes: number, ending = 'n'): string[] {
  return namesFor(bytes, 20, 'a_tool_of_').map((name) => name + ending);
}

function alternatives(bytes: number): Json {
  const names = namesFor(bytes, 18);
  return { type: 'object', anyOf: [{ required: names }, { required: names.toReversed() }] };
}

function disjunctAlternatives(bytes: number): Json {
  return { type: 'object', anyOf: [{ required: namesFor(bytes, 18) }, { required: namesFor(bytes, 18, 'o') }] };
}

/** Many alternatives that require all the same name many times. */
function equalAlternatives(bytes: number): Json {
  const again = namesFor(bytes, 26);
  return { type: 'object', anyOf: [{ required: again.map(() => 'n') }, ...again.map(() => ({ required: ['n'] }))] };
}

function requiredProperties(bytes: number): Json {
  const names = namesFor(bytes, 28);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'null' }]));
  return { type: 'object', properties, required: names.toReversed() };
}

function references(bytes: number): Json {
  const names = namesFor(bytes, 60);
  const definitions = Object.fromEntries(names.map((name) => [name, { type: 'null' }]));
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
  return { type: 'object', properties, $defs: definitions };
}

const schemas = { alternatives, disjunctAlternatives, equalAlternatives, requiredProperties, references };

function inputsOf(wire: WireName): Record<string, WorstInput> {
  const { request, tool, allowing, conversation, format } = words[wire];
  const text = (members: Json) => JSON.stringify(request(members));
  const offered = (tools: unknown[]) => (wire === 'gemini-generate' ? [{ functionDeclarations: tools }] : tools);
  const inputs: Record<string, WorstInput> = {
    'calls and their results': (bytes) => {
      const ids = namesFor(bytes, 130);
      return text(conversation(ids, ids.toReversed()));
    },
    'calls and results of others': (bytes) => text(conversation(namesFor(bytes, 130), namesFor(bytes, 130, 'o'))),
  };
  if (allowing) {
    const both = (names: string[], allowedNames: string[]) =>
      text(
        allowing(
          names.map((name) => tool(name)),
          allowedNames,
        ),
      );
    inputs['tools and allowed tools'] = (bytes) => {
      const names = longNamesFor(bytes);
      return both(names, names.toReversed());
    };
    inputs['tools and other allowed tools'] = (bytes) => both(longNamesFor(bytes), longNamesFor(bytes, 'o'));
  }
  for (const [name, schemaFor] of Object.entries(schemas)) {
    inputs[`a tool of ${name}`] = (bytes) => text({ tools: offered([tool('t', schemaFor(bytes))]) });
    if (format) inputs[`an answer of ${name}`] = (bytes) => text(format(schemaFor(bytes)));
  }
  return inputs;
}

const fromUrl = { model: 'm', stream: true };

function requests(from: WireName, to: UpstreamWireName): (bytes: Buffer) => void {
  const translator = translatorOf(from, to);
  return (bytes) => {
    try {
      const asked = translator.read(bytes, from === 'gemini-generate' ? fromUrl : undefined);
      const request = translator.request(asked, targetOf(models[to]));
      void request.body;
      request.events(moment);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  };
}

export const worstPairs: Record<string, WorstCase> = {};
for (const from of Object.keys(words) as WireName[]) {
  for (const to of Object.keys(models) as UpstreamWireName[]) {
    if (to === from) continue;
    worstPairs[`lists of ${from} for ${to}`] = {
      atOnceBytes: 128 * 1024,
      readers: [],
      inputs: inputsOf(from),
      run: requests(from, to),
    };
  }
}
