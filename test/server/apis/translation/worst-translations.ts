/** The most expensive input that clients and upstreams could send to the translation of requests and answers. */
import { overflowIn } from '../../../../server/apis/core/errors/context-overflow.ts';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import { JsonNames } from '../../../../server/apis/json/json-names.ts';
import { peekJson } from '../../../../server/apis/json/json-peek.ts';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import { newestResultIds, unwrapSeals } from '../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { CustomInputReader, customInput, isCutInput } from '../../../../server/apis/neutral/requests/custom-input.ts';
import { marksOfSluice, openSeals } from '../../../../server/apis/translation/returned-seals.ts';
import { AnswerRemainder, PartialAnswer } from '../../../../server/apis/translation/translated-events.ts';
import { withoutReasoning } from '../../../../server/apis/translation/translation-registry.ts';
import { GatewayError } from '../../../../server/contract/errors.ts';
import { ClientReasoning } from '../../../../server/exchange/translation/client-reasoning.ts';
import { TextFastPath } from '../../../../server/exchange/translation/translated-stream.ts';
import type { ReasoningStore } from '../../../../server/store/ports/kept-stores.ts';
import type { WorstCase } from '../../worst-cases.ts';
import { moment, streamed, targetOf, translate, translatorOf } from './translating.ts';

const models: Record<WireName, string> = {
  'openai-chat': 'kimi-k3',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  'gemini-generate': 'gemini-3-pro',
};
const greeting = { role: 'user', content: 'x' };
const asked: Record<WireName, object> = {
  'openai-chat': { model: 'm', messages: [greeting], stream: true },
  'openai-responses': { model: 'm', input: 'x', stream: true },
  'anthropic-messages': { model: 'm', max_tokens: 9, messages: [greeting], stream: true },
  'gemini-generate': { model: 'm', contents: [{ parts: [{ text: 'x' }] }], stream: true },
};

/** Each wire is translated to another one, so that every renderer is covered. */
const others: Record<WireName, WireName> = {
  'openai-chat': 'anthropic-messages',
  'anthropic-messages': 'openai-chat',
  'openai-responses': 'gemini-generate',
  'gemini-generate': 'openai-responses',
};

function openReturned(bytes: Buffer): void {
  const peek = peekJson(bytes, new JsonNames([]), marksOfSluice);
  if (peek.ok)
    openSeals('anthropic-messages', { bytes, marked: peek.marked }, { provider: '', model: '', account: '' });
}

function requests(from: WireName): (bytes: Buffer) => void {
  const to = others[from];
  const translator = translatorOf(from, to);
  return (bytes) => {
    try {
      const asked = translator.read(bytes, from === 'gemini-generate' ? fromUrl : undefined);
      translator.request(asked, targetOf(models[to])).events(moment);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  };
}

const fromUrl = { model: 'm', stream: true };

/** For a client that needs complete calls. */
function answers(from: WireName): (bytes: Buffer) => void {
  const to = from === 'anthropic-messages' ? 'gemini-generate' : 'anthropic-messages';
  const request = translate({ from: to, to: from, model: models[from] }, asked[to]);
  return (bytes) => {
    request.whole(bytes, moment);
    request.wholeAsEvents(bytes, moment);
  };
}

function streams(from: WireName): (bytes: Buffer) => void {
  const to = from === 'anthropic-messages' ? 'openai-responses' : 'anthropic-messages';
  const request = translate({ from: to, to: from, model: models[from] }, asked[to]);
  return (bytes) => streamed(request, [bytes]);
}

const kilobyte = 1024;
const deep = `${'{"a":['.repeat(1000)}1${']}'.repeat(1000)}`;
const chunk = (delta: string) => `data: {"choices":[{"delta":${delta}}]}\n\n`;
const part = (text: string) => `data: {"candidates":[{"content":{"parts":[${text}]}}]}\n\n`;

/** As if a model had produced many thoughts before every call. */
const everything: ReasoningStore = {
  keep() {},
  find: (_keyId, callIds) => {
    const sealAt = (calls: number) => ({
      seal: { kind: 'signature', data: 'x', place: { calls, text: 0 } },
      text: 'x',
    });
    const seals = Array.from({ length: 100 }, (_, calls) => sealAt(calls));
    const kept = JSON.stringify({ digest: 'of other calls', seals });
    return new Map(callIds.map((id) => [id, kept]));
  },
  flush() {},
  close() {},
};

function restores(bytes: Buffer): void {
  const { conversation } = translatorOf('openai-chat', 'anthropic-messages').read(bytes);
  new ClientReasoning(everything, 'k1').restored(conversation);
}

export const worstTranslations: Record<string, WorstCase> = {
  'a chat whose reasoning was kept': {
    atOnceBytes: 256 * kilobyte,
    readers: ['ReasoningCollector', 'ClientReasoning'],
    inputs: {
      'turns of one call': [
        '{"model":"m","messages":[',
        '{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x"}}]},',
        '{"role":"user","content":"x"}]}',
      ],
      'calls of one turn': [
        '{"model":"m","messages":[{"role":"assistant","tool_calls":[',
        '{"id":"a","function":{"name":"x"}},',
        '{"id":"b","function":{"name":"x"}}]}]}',
      ],
    },
    run: restores,
  },
  'a chat that is translated': {
    atOnceBytes: 256 * kilobyte,
    readers: ['RawJson', 'Translator', 'TranslatedRequest'],
    inputs: {
      messages: ['{"model":"m","messages":[', '{"role":"user","content":"x"},', '{"role":"user","content":"x"}]}'],
      'calls of one id': [
        '{"model":"m","messages":[{"role":"assistant","tool_calls":[',
        '{"id":"a:b","function":{"name":"x"}},',
        '{"id":"a:b","function":{"name":"x"}}]}]}',
      ],
      'turns of one call': [
        '{"model":"m","messages":[',
        '{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}}]},',
        '{"role":"tool","tool_call_id":"a"}]}',
      ],
      'results of no call': [
        '{"model":"m","messages":[',
        '{"role":"tool","tool_call_id":"a"},',
        '{"role":"user","content":"x"}]}',
      ],
      'fields of nobody': [
        '{"model":"m","messages":[{"role":"user","content":[',
        '{"type":"text","text":"x","y":1},',
        '{"text":"x"}]}]}',
      ],
      'tools with long names': [
        '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[',
        `{"function":{"name":"${'é'.repeat(90)}"}},`,
        '{"function":{"name":"x"}}]}',
      ],
      'a deep schema': [
        '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[',
        `{"function":{"name":"x","parameters":${deep}}},`,
        '{"function":{"name":"x"}}]}',
      ],
      'a wide schema': [
        '{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"anyOf":[',
        '{"minimum":1},',
        '{}]}}}}',
      ],
      'long numbers': ['{"model":"m","x":[', '12345678901234567890,', '1],"messages":[{"role":"user","content":"x"}]}'],
      'one number': ['{"model":"m","x":', '1', '}'],
      lists: ['', '[', ''],
    },
    run: requests('openai-chat'),
  },
  'messages that are translated': {
    atOnceBytes: 256 * kilobyte,
    readers: ['estimateInputTokens', 'withoutThinking', 'withoutReasoning'],
    inputs: {
      blocks: [
        '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[',
        '{"type":"text","text":"x"},',
        '{"type":"text","text":"x"}]}]}',
      ],
      'inputs of calls': [
        '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[',
        '{"type":"tool_use","id":"t","name":"x","input":{"a":[{},{}]}},',
        '{"type":"text","text":"x"}]}]}',
      ],
      'a deep input': [
        '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":',
        '[',
        ']}}]}]}',
      ],
      thoughts: [
        '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[',
        '{"type":"thinking","thinking":"x","signature":"c2wxAAAA"},',
        '{"type":"text","text":"x"}]}]}',
      ],
      'system turns': [
        '{"model":"m","max_tokens":9,"messages":[',
        '{"role":"system","content":"x"},',
        '{"role":"user","content":"x"}]}',
      ],
    },
    run: (bytes) => {
      requests('anthropic-messages')(bytes);
      withoutReasoning('anthropic-messages', bytes, '');
    },
  },
  'items that are translated': {
    atOnceBytes: 256 * kilobyte,
    readers: [],
    inputs: {
      items: ['{"model":"m","input":[', '{"role":"user","content":"x"},', '{"role":"user","content":"x"}]}'],
      'items of one turn': [
        '{"model":"m","input":[',
        '{"type":"reasoning","summary":[]},',
        '{"role":"user","content":"x"}]}',
      ],
      'calls of one id': [
        '{"model":"m","input":[',
        '{"type":"function_call","call_id":"a","name":"x"},',
        '{"type":"function_call_output","call_id":"a"}]}',
      ],
      'foreign items': ['{"model":"m","input":[', '{"type":"web_search_call"},', '{"role":"user","content":"x"}]}'],
    },
    run: requests('openai-responses'),
  },
  'contents that are translated': {
    atOnceBytes: 256 * kilobyte,
    readers: ['renderContents', 'unwrapSeal'],
    inputs: {
      contents: ['{"contents":[', '{"parts":[{"text":"x"}]},', '{"parts":[{"text":"x"}]}]}'],
      'calls of one name': [
        '{"contents":[{"role":"model","parts":[',
        '{"functionCall":{"name":"x"}},',
        '{"text":"x"}]},{"parts":[{"functionResponse":{"name":"x"}}]}]}',
      ],
      'names of words': ['{"contents":[{"parts":[{"te', '_a', '":"x"}]}]}'],
      'a deep content': ['{"contents":[{"parts":[{"x":', '[', ']}]}]}'],
    },
    run: (bytes) => {
      requests('gemini-generate')(bytes);
      unwrapSeals(bytes.toString('latin1', 0, 65_536), 'signature');
    },
  },
  'texts that are told without being parsed': {
    atOnceBytes: 64 * kilobyte,
    readers: ['TextFastPath'],
    inputs: {
      'one text after the other': ['', 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n', ''],
      'texts and thoughts': [
        '',
        'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choices":[{"delta":{"reasoning":"x"}}]}\n\n',
        '',
      ],
      'arguments of a call': [
        chunk('{"tool_calls":[{"index":0,"id":"a","function":{"name":"x"}}]}'),
        chunk('{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}'),
        chunk('{"content":"x"}'),
      ],
      'a long text': ['data: {"choices":[{"delta":{"content":"', '\\u00e9', '"}}]}\n\n'],
    },
    run: (bytes) => {
      const way = { from: 'anthropic-messages', to: 'openai-chat', model: 'kimi-k3' } as const;
      const events = translate(way, asked['anthropic-messages']).events(moment);
      const known = new TextFastPath(events);
      const filter = (event: Buffer) => {
        const read = sseFraming.readEvent(event);
        if (read) events.write(read);
        known.learn(event);
        return null;
      };
      sseFraming.openGate(() => {}, { filter, known }).push(bytes);
      return known.takeTranslated();
    },
  },
  'an answer that repeats another': {
    atOnceBytes: 64 * kilobyte,
    readers: ['AnswerRemainder', 'GrowingText'],
    inputs: { 'the same text': ['x', 'x', 'x'], 'another text': ['x', 'x', 'y'] },
    run: (bytes) => {
      const text = bytes.toString('latin1');
      const soFar = new PartialAnswer();
      const rest = new AnswerRemainder(text.replaceAll('y', 'x'));
      for (const character of text) {
        const event = { type: 'text', text: character } as const;
        soFar.take(event);
        soFar.append(character);
        rest.take(event);
      }
      return soFar.text;
    },
  },
  'the origin of carried reasoning': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['openSeals', 'sealFields', 'JsonMarks', 'elementsOf', 'newestResultIds'],
    inputs: {
      'results within texts': ['{"messages":["', '\\"tool_call_id\\"', '"]}'],
      results: ['{"messages":[', '{"tool_call_id":"a"},', '{}]}'],
      'results without ids': ['{"messages":[', '"tool_call_id"', ']}'],
      'a long envelope': ['{"messages":[{"content":[{"type":"thinking","signature":"c2wxA', 'x', '"}]}]}'],
      envelopes: ['{"messages":[{"content":[', '{"type":"thinking","signature":"c2wxA"},', '{}]}]}'],
      'messages with envelopes': ['{"messages":[', '{"content":[{"type":"thinking","signature":"c2wxA"}]},', '{}]}'],
      'an envelope below much': ['{"messages":[{"a":["c2wxA",', '[[],{}],', '1]}]}'],
    },
    run: (bytes) => [openReturned(bytes), newestResultIds(bytes, 'tool_call_id')],
  },
  'a chat completion that is translated': {
    atOnceBytes: 256 * kilobyte,
    readers: ['renderChatAnswer'],
    inputs: {
      calls: [
        '{"choices":[{"message":{"tool_calls":[',
        '{"id":"a","function":{"name":"x","arguments":"{}"}},',
        '{}]}}]}',
      ],
      choices: ['{"choices":[', '{},', '{}]}'],
      'a long text': ['{"choices":[{"message":{"content":"', 'x', '"}}]}'],
    },
    run: answers('openai-chat'),
  },
  'a message that is translated': {
    atOnceBytes: 256 * kilobyte,
    readers: ['GenerateEventRenderer'],
    inputs: {
      blocks: ['{"content":[', '{"type":"text","text":"x"},', '{"type":"text","text":"x"}]}'],
      thoughts: ['{"content":[', '{"type":"thinking","thinking":"x","signature":"y"},', '{"type":"text","text":"x"}]}'],
      'a deep input': ['{"content":[{"type":"tool_use","id":"t","name":"x","input":{"a":', '[', ']}}]}'],
    },
    run: answers('anthropic-messages'),
  },
  'a stream of a chat that is translated': {
    atOnceBytes: 64 * kilobyte,
    readers: ['EventsForClient', 'CallFragments'],
    inputs: {
      'a name with each fragment': [
        chunk('{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}]}'),
        chunk('{"tool_calls":[{"index":0,"id":"b","function":{"name":"x","arguments":"[{}"}}]}') +
          chunk('{"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{}]"}}]}'),
        'data: [DONE]\n\n',
      ],
      'calls that share an index': [
        '',
        chunk('{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{}"}}]}') +
          chunk('{"tool_calls":[{"index":0,"function":{"name":"y","arguments":"{}"}}]}'),
        'data: [DONE]\n\n',
      ],
      text: [chunk('{"content":"a"}'), chunk('{"content":"a"}'), ''],
      'thoughts and texts': ['', chunk('{"reasoning":"a"}') + chunk('{"content":"b"}'), ''],
      'calls without end': [
        '',
        chunk('{"tool_calls":[{"id":"a","function":{"name":"x"}},{"id":"b","function":{"name":"x"}}]}'),
        'data: [DONE]\n\n',
      ],
      'arguments of a call': [
        chunk('{"tool_calls":[{"index":0,"id":"a","function":{"name":"x"}}]}'),
        chunk('{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}'),
        '',
      ],
      'arguments of no call': ['', chunk('{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}'), ''],
    },
    run: streams('openai-chat'),
  },
  'a stream of a message that is translated': {
    atOnceBytes: 64 * kilobyte,
    readers: ['ChatEventRenderer', 'ResponsesEventRenderer'],
    inputs: {
      'blocks without end': [
        '',
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}\n\n',
        '',
      ],
      usage: ['', 'data: {"type":"message_delta","delta":{},"usage":{"output_tokens":1}}\n\n', ''],
      signatures: [
        '',
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}\n\n',
        '',
      ],
    },
    run: streams('anthropic-messages'),
  },
  'a stream of a Gemini that is translated': {
    atOnceBytes: 64 * kilobyte,
    readers: [],
    inputs: {
      parts: ['', part('{"text":"x"}'), ''],
      calls: ['', part('{"functionCall":{"name":"x"}}'), ''],
      thoughts: ['', part('{"text":"x","thought":true,"thoughtSignature":"c2ln"}'), ''],
    },
    run: streams('gemini-generate'),
  },
  'the input of a custom tool': {
    atOnceBytes: 64 * kilobyte,
    readers: ['CustomInputReader'],
    inputs: {
      text: ['{"input":"', 'x', '"}'],
      blanks: ['{', ' ', '"input":"x"}'],
      backslashes: ['{"input":"', '\\\\', '"}'],
      'halves of pairs': ['{"input":"', '\\ud83d', '"}'],
    },
    run: (bytes) => {
      const reader = new CustomInputReader();
      const given = bytes.toString();
      for (let at = 0; at < given.length; at += 3) reader.push(given.slice(at, at + 3));
      return [customInput(given), isCutInput(given)];
    },
  },
  'the items of a whole response': {
    atOnceBytes: 256 * kilobyte,
    readers: ['AnswerFold'],
    inputs: {
      items: ['{"output":[', '{},', '{}]}'],
      calls: ['{"output":[', '{"type":"function_call","call_id":"a","name":"x","arguments":"{}"},', '{}]}'],
      thoughts: ['{"output":[{"type":"reasoning","summary":[', '{"text":"x"},', '{}]}]}'],
      texts: ['{"output":[{"type":"message","content":[', '{"type":"output_text","text":"x"},', '{}]}]}'],
    },
    run: (bytes) => {
      const asked = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
      translate({ from: 'openai-chat', to: 'openai-responses', model: 'gpt-5.4' }, asked).whole(bytes, moment);
    },
  },
  'a stream of a response that is translated': {
    atOnceBytes: 64 * kilobyte,
    readers: ['SeenItems'],
    inputs: {
      'items without names': [
        '',
        'data: {"type":"response.output_item.done","item":{"type":"message","content":[{"type":"text","text":"x"}]}}\n\n',
        '',
      ],
      'items that the last event has differently': (bytes) => {
        const count = Math.ceil(bytes / 200);
        const items = Array.from({ length: count }, (_, at) => ({ type: 'message', id: `a${at}`, content: [] }));
        const done = items.map((item) => ({ type: 'response.output_item.done', item }));
        const output = items.map((item) => ({ ...item, type: 'function_call', id: `b${item.id}`, name: 'x' }));
        const last = { type: 'response.completed', response: { output } };
        return [...done, last].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      },
      'pieces of one text': ['', 'data: {"type":"response.output_text.delta","delta":"x"}\n\n', ''],
    },
    run: streams('openai-responses'),
  },
  'the numbers of an error': {
    atOnceBytes: 16 * kilobyte,
    readers: ['overflowIn'],
    inputs: { digits: ['maximum context length ', '1', ''], sums: ['', '1 + ', ''], words: ['1 exceeds ', 'a ', ''] },
    run: (bytes) => overflowIn({ message: bytes.toString(), code: null }),
  },
};
