/** Every text, picture, call and tool result of a request is contained in what the upstream receives. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireName } from '../../../../server/apis/neutral/conversation.ts';
import { complaintsOf } from './strict-upstreams.ts';
import { type Json, lossesOf, sent, streamed, streamOf, translate, type Way } from './translating.ts';

/** Creates a part of a request, in which each content has a unique mark. */
type Piece = (mark: () => string) => Json[];

const dataUrl = (type: string, mark: () => string) => `data:${type};base64,${mark()}`;

const chatParts: ((mark: () => string) => Json)[] = [
  (mark) => ({ type: 'text', text: mark() }),
  (mark) => ({ type: 'image_url', image_url: { url: dataUrl('image/png', mark), detail: 'low' } }),
  (mark) => ({ type: 'image_url', image_url: { url: `https://example.com/${mark()}.png` } }),
  (mark) => ({ type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', mark) } }),
];

const claudeBlocks: ((mark: () => string) => Json)[] = [
  (mark) => ({ type: 'text', text: mark(), cache_control: { type: 'ephemeral' } }),
  (mark) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: mark() } }),
  (mark) => ({ type: 'image', source: { type: 'url', url: `https://example.com/${mark()}.png` } }),
  (mark) => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: mark() } }),
  (mark) => ({
    type: 'document',
    title: mark(),
    context: mark(),
    source: { type: 'text', media_type: 'text/plain', data: mark() },
  }),
  (mark) => ({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: mark() }] } }),
  (mark) => ({ type: 'search_result', title: mark(), source: mark(), content: [{ type: 'text', text: mark() }] }),
];

const claudeServerResults: ((mark: () => string) => Json)[] = [
  (mark) => ({
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', title: mark(), url: mark(), encrypted_content: 'Eq' }],
  }),
  (mark) => ({
    type: 'code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'code_execution_result', stdout: mark(), return_code: 0 },
  }),
  (mark) => ({ type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', content: [{ type: 'text', text: mark() }] }),
  (mark) => ({
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'web_fetch_result',
      url: mark(),
      content: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: mark() } },
    },
  }),
  (mark) => ({ type: 'compaction', content: mark() }),
];

const responsesParts: ((mark: () => string) => Json)[] = [
  (mark) => ({ type: 'input_text', text: mark() }),
  (mark) => ({ type: 'input_image', image_url: dataUrl('image/png', mark), detail: 'high' }),
  (mark) => ({ type: 'input_file', filename: 'a.pdf', file_data: dataUrl('application/pdf', mark) }),
];

const geminiMedia: ((mark: () => string) => Json)[] = [
  (mark) => ({ inlineData: { mimeType: 'image/png', data: mark() } }),
  (mark) => ({ fileData: { mimeType: 'image/png', fileUri: `https://example.com/${mark()}.png` } }),
];

const all = (makers: readonly ((mark: () => string) => Json)[], mark: () => string) => makers.map((make) => make(mark));
let calls = 0;
const nextId = () => `call_${calls++}`;

const pieces: Record<WireName, Piece[]> = {
  'openai-chat': [
    (mark) => [{ role: 'user', content: mark() }],
    (mark) => [{ role: 'user', content: all(chatParts, mark) }],
    (mark) => [{ role: 'system', content: mark() }],
    (mark) => [{ role: 'developer', content: all(chatParts.slice(0, 2), mark) }],
    (mark) => [{ role: 'assistant', content: mark(), refusal: mark() }],
    (mark) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: mark() },
          { type: 'refusal', refusal: mark() },
          { type: 'refusal', refusal: mark() },
        ],
      },
    ],
    (mark) => {
      const id = nextId();
      return [
        {
          role: 'assistant',
          content: mark(),
          tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ a: mark() }) } }],
        },
        {
          role: 'tool',
          tool_call_id: id,
          content: [
            { type: 'text', text: mark() },
            { type: 'text', text: mark() },
          ],
        },
      ];
    },
    (mark) => [{ role: 'tool', tool_call_id: 'call_nobody', content: mark() }],
    (mark) => [
      { role: 'assistant', content: null, function_call: { name: 'read', arguments: '{}' } },
      { role: 'function', name: 'read', content: mark() },
    ],
  ],
  'anthropic-messages': [
    (mark) => [{ role: 'user', content: mark() }],
    (mark) => [{ role: 'user', content: all(claudeBlocks, mark) }],
    (mark) => [{ role: 'system', content: all(claudeBlocks.slice(0, 2), mark) }],
    (mark) => [
      {
        role: 'assistant',
        content: [{ type: 'text', text: mark() }, ...all(claudeServerResults, mark), { type: 'text', text: mark() }],
      },
    ],
    (mark) => {
      const id = nextId();
      const content = [...all(claudeBlocks, mark), { type: 'tool_reference', tool_name: mark() }];
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: { a: mark() } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: id, content, is_error: true },
            { type: 'text', text: mark() },
          ],
        },
      ];
    },
    (mark) => [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_nobody', content: mark() }] }],
  ],
  'openai-responses': [
    (mark) => [{ role: 'user', content: mark() }],
    (mark) => [{ role: 'user', content: all(responsesParts, mark) }],
    (mark) => [{ role: 'developer', content: all(responsesParts.slice(0, 2), mark) }],
    (mark) => [
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: mark() },
          { type: 'refusal', refusal: mark() },
        ],
      },
    ],
    (mark) => {
      const id = nextId();
      return [
        { type: 'function_call', call_id: id, name: 'read', arguments: JSON.stringify({ a: mark() }) },
        { type: 'function_call_output', call_id: id, output: all(responsesParts, mark) },
      ];
    },
    (mark) => {
      const id = nextId();
      return [
        { type: 'custom_tool_call', call_id: id, name: 'patch', input: mark() },
        { type: 'custom_tool_call_output', call_id: id, output: mark() },
      ];
    },
    (mark) => {
      const id = nextId();
      return [
        { type: 'computer_call', call_id: id, action: { type: 'type', text: mark() } },
        {
          type: 'computer_call_output',
          call_id: id,
          output: { type: 'computer_screenshot', image_url: dataUrl('image/png', mark) },
        },
      ];
    },
    (mark) => [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: mark() }],
    (mark) => [{ type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'find', arguments: '{}', output: mark() }],
    (mark) => [{ type: 'code_interpreter_call', id: 'ci_1', code: '1', outputs: [{ type: 'logs', logs: mark() }] }],
    (mark) => [{ type: 'file_search_call', id: 'fs_1', queries: ['x'], results: [{ filename: 'a', text: mark() }] }],
  ],
  'gemini-generate': [
    (mark) => [{ role: 'user', parts: [{ text: mark() }, ...all(geminiMedia, mark)] }],
    (mark) => [{ role: 'model', parts: [{ text: mark() }, ...all(geminiMedia.slice(0, 1), mark)] }],
    (mark) => [
      {
        role: 'model',
        parts: [
          { executableCode: { language: 'PYTHON', code: mark() } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: mark() } },
        ],
      },
    ],
    (mark) => [
      { role: 'model', parts: [{ toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', response: { a: mark() } } }] },
    ],
    (mark) => [
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'read', args: { a: mark() } } },
          { functionCall: { name: 'write', args: {} } },
          { functionCall: { name: 'both', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'read', response: { output: mark() }, parts: all(geminiMedia, mark) } },
          { functionResponse: { name: 'write', response: { error: mark() } } },
          { functionResponse: { name: 'both', response: { output: mark(), error: mark() } } },
        ],
      },
    ],
    (mark) => [{ role: 'user', parts: [{ functionResponse: { name: 'nobody', response: { a: mark() } } }] }],
  ],
};

const bodyOf: Record<WireName, (items: Json[], mark: () => string) => Json> = {
  'openai-chat': (messages) => ({ model: 'm', messages }),
  'anthropic-messages': (messages, mark) => ({
    model: 'm',
    max_tokens: 100,
    system: all(claudeBlocks.slice(0, 2), mark),
    messages,
  }),
  'openai-responses': (input, mark) => ({ model: 'm', instructions: mark(), input }),
  'gemini-generate': (contents, mark) => ({
    model: 'm',
    systemInstruction: { parts: [{ text: mark() }, ...all(geminiMedia.slice(0, 1), mark)] },
    contents,
  }),
};

const models: Record<WireName, string> = {
  'openai-chat': 'gpt-4o',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-opus-4-6',
  'gemini-generate': 'gemini-3-pro',
};

const wires = Object.keys(pieces) as WireName[];
const ways = wires.flatMap((from) =>
  wires.filter((to) => to !== from).map((to): [string, Way] => [`${from} to ${to}`, { from, to, model: models[to] }]),
);

function made(from: WireName, chosen: readonly number[]): { body: Json; marks: string[] } {
  const marks: string[] = [];
  const mark = () => {
    const text = `mark${String(marks.length).padStart(4, '0')}`;
    marks.push(text);
    return text;
  };
  const known = pieces[from];
  const items = chosen.flatMap((index) => known[index % known.length]?.(mark) ?? []);
  return { body: bodyOf[from](items, mark), marks };
}

describe.each(ways)('from %s', (_name, way) => {
  test('every kind of content arrives by itself', () => {
    for (const index of pieces[way.from].keys()) {
      const { body, marks } = made(way.from, [index]);
      const request = JSON.stringify(sent(way, body));
      const lost = marks.filter((mark) => !request.includes(mark));
      expect(lost, JSON.stringify(body)).toEqual([]);
    }
  });

  test('all content of any history arrives once, in a form that is taken', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 10 }), (chosen) => {
        const { body, marks } = made(way.from, chosen);
        const request = sent(way, body);
        const written = JSON.stringify(request);
        expect(marks.filter((mark) => written.split(mark).length !== 2)).toEqual([]);
        expect(complaintsOf(way.to, request)).toEqual([]);
      }),
      { numRuns: 100, seed: 11 },
    );
  });
});

test('a picture that a model draws in a stream arrives', () => {
  const way: Way = { from: 'anthropic-messages', to: 'openai-chat', model: 'google/gemini-3-pro-image' };
  const request = translate(way, { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Draw' }] });
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
  const events = [
    { id: 'c', choices: [{ index: 0, delta: { content: '', images } }] },
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    '[DONE]',
  ];
  expect(streamed(request, [streamOf(events, false)])).toContain('![](data:image/png;base64,AAAA)');
});

test('the requested detail of a picture is reported as a loss if the upstream has no such choice', () => {
  const image = (detail: string) => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail } });
  const messages = [{ role: 'user', content: [image('high'), image('auto')] }];
  for (const to of ['anthropic-messages', 'gemini-generate'] as const) {
    const way: Way = { from: 'openai-chat', to, model: models[to] };
    const told = lossesOf(way, { model: 'm', messages }).filter((line) => line.includes('detail'));
    expect(told).toEqual(['dropped messages[0].content[0].detail: no-equal']);
  }
});

describe('what only the provider of its API can read', () => {
  test('a compacted history of OpenAI is refused: all that was said would be lost', () => {
    const input = [
      { type: 'compaction', encrypted_content: 'gAbc' },
      { role: 'user', content: 'Go on' },
    ];
    const way: Way = { from: 'openai-responses', to: 'anthropic-messages', model: models['anthropic-messages'] };
    expect(() => sent(way, { model: 'm', input })).toThrow(/'input\[0\]' cannot be translated/);
  });

  test('cached content of Gemini is refused: it holds the beginning of the conversation', () => {
    const way: Way = { from: 'gemini-generate', to: 'openai-chat', model: models['openai-chat'] };
    const contents = [{ role: 'user', parts: [{ text: 'Go on' }] }];
    expect(() => sent(way, { model: 'm', contents, cachedContent: 'cachedContents/1' })).toThrow(
      /'cachedContent' cannot/,
    );
  });

  test('a spoken answer that only OpenAI has is refused, unless it was written too', () => {
    const way: Way = { from: 'openai-chat', to: 'anthropic-messages', model: models['anthropic-messages'] };
    const spoken = (content: string | null) => ({
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content, audio: { id: 'audio_1' } },
      ],
    });
    expect(() => sent(way, spoken(null))).toThrow(/messages\[1\]\.audio/);
    expect(lossesOf(way, spoken('Hello'))).toContain('dropped messages[1].audio: no-equal');
  });

  test('a result of a server tool is told as text, without what is encrypted in it', () => {
    const way: Way = { from: 'anthropic-messages', to: 'openai-chat', model: models['openai-chat'] };
    const [found] = claudeServerResults.slice(0, 1).map((make) => make(() => 'Paris'));
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [found] },
      { role: 'user', content: 'So?' },
    ];
    const body = { model: 'm', max_tokens: 9, messages };
    expect(JSON.stringify(sent(way, body))).not.toContain('encrypted_content');
    expect(lossesOf(way, body)).toContain('emulated messages[1].content[0]: as-text');
  });
});
