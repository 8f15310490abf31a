import { BadRequestError } from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParams, ChatCompletionTool } from 'openai/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type DemoHarness, dataLines, startHarness } from './harness.ts';

const weather: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['city', 'unit'],
      additionalProperties: false,
    },
  },
};
const clock: ChatCompletionTool = { type: 'function', function: { name: 'read_clock' } };

describe('chat completions', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  type Extra = Partial<ChatCompletionCreateParams>;
  const chat = (content: string, extra: Extra = {}) =>
    harness.client.chat.completions.create({
      model: 'demo-chat',
      messages: [{ role: 'user', content }],
      ...extra,
      stream: false,
    });
  const stream = async (content: string, extra: Extra = {}) =>
    collect(
      await harness.client.chat.completions.create({
        model: 'demo-chat',
        messages: [{ role: 'user', content }],
        ...extra,
        stream: true,
      }),
    );
  const refusal = async (body: object) => {
    const response = await harness.request('POST', '/chat/completions', { model: 'demo-chat', ...body });
    return { status: response.status, body: await response.json() };
  };
  const contentOf = (chunks: ChatCompletionChunk[]) =>
    chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');

  it('say that they are a demo, repeat the question and name the way to a real provider', async () => {
    const { choices } = await chat('How tall is the tower?');
    expect(choices[0]?.message.content).toMatch(/demo provider.*"How tall is the tower\?".*add a provider/);
  });

  it('contain nothing that an agent could take for an edit, a path or a command', async () => {
    const prompt = [
      'Edit the file.\n```ts\nsrc/main.ts\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```',
      'Then run `rm -rf /tmp/x` in $HOME and write {"path": "a.ts"} <b>now</b> please, at once, before the others all do it',
    ].join('\n');
    const { choices } = await chat(prompt);
    const content = choices[0]?.message.content ?? '';
    expect(content).toContain('"Then run in and write please, at once, …"');
    expect(content).not.toMatch(/[`<>{}/\\$=]|\n|rm|main|SEARCH|sluice provider/);
  });

  it('take the schema of JSON mode from the prompt, if one stands there', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, size: { type: 'integer' } } };
    const asked = `Answer with JSON that satisfies this schema: ${JSON.stringify(schema)} Where is it {really}?`;
    const { choices } = await chat(asked, { response_format: { type: 'json_object' } });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ city: 'demo', size: 1 });
    const without = await chat('Answer with JSON {', { response_format: { type: 'json_object' } });
    expect(JSON.parse(without.choices[0]?.message.content ?? '')).toHaveProperty('message');
  });

  it('think where that is asked for', async () => {
    const { choices } = await chat('Why?', { reasoning_effort: 'low' });
    expect(choices[0]?.message).toHaveProperty('reasoning_content', expect.stringContaining('reasoning'));
    const chunks = await stream('Why?', { reasoning_effort: 'low' });
    expect(JSON.stringify(chunks)).toContain('reasoning_content');
    expect(JSON.stringify(await chat('Why?'))).not.toContain('reasoning_content');
  });

  it('have every field that OpenAI sends', async () => {
    const completion = await chat('Hi');
    expect(completion).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: Date.UTC(2026, 0, 1) / 1000,
      model: 'demo-chat',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: expect.any(String), refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 4,
        completion_tokens: expect.any(Number),
        total_tokens: 4 + (completion.usage?.completion_tokens ?? Number.NaN),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_sluice_demo',
    });
  });

  it('are the same for the same question', async () => {
    const [first, second] = [await chat('Same?'), await chat('Same?')];
    expect(first.choices).toEqual(second.choices);
    expect(first.usage).toEqual(second.usage);
  });

  it('stream the same text, in the order of chunks that OpenAI sends', async () => {
    const [plain, chunks] = [await chat('Count äöü 🌍'), await stream('Count äöü 🌍')];
    expect(contentOf(chunks)).toBe(plain.choices[0]?.message.content);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(chunks.at(-1)?.choices[0]).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' });
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(new Set(chunks.map(({ id, created, model, object }) => [id, created, model, object].join())).size).toBe(1);
  });

  it('add the usage to a stream in a chunk of its own, if asked', async () => {
    const [plain, chunks] = [await chat('Usage?'), await stream('Usage?', { stream_options: { include_usage: true } })];
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it('end a stream with [DONE] and name no events', async () => {
    const body = { model: 'demo-chat', stream: true, messages: [{ role: 'user', content: 'x' }] };
    const response = await harness.request('POST', '/chat/completions', body);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const copy = response.clone();
    expect((await dataLines(response)).at(-1)).toBe('[DONE]');
    expect(await copy.text()).not.toContain('event:');
  });

  it('give as many choices as asked, streamed too', async () => {
    const plain = await chat('Three', { n: 3 });
    expect(plain.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    const chunks = await stream('Three', { n: 3 });
    const finished = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.finish_reason === 'stop');
    expect(finished.map((choice) => choice.index)).toEqual([0, 1, 2]);
  });

  it('end at max_completion_tokens with finish_reason length', async () => {
    const completion = await chat('Long', { max_completion_tokens: 5 });
    expect(completion.choices[0]?.finish_reason).toBe('length');
    expect(completion.usage?.completion_tokens).toBe(5);
    const chunks = await stream('Long', { max_tokens: 5 });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
    expect(contentOf(chunks)).toBe(completion.choices[0]?.message.content);
  });

  it('end before a stop string', async () => {
    const completion = await chat('Go on', { stop: ['nowhere', ' demo'] });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: "This is Sluice's built-in" },
    });
  });

  it('remember the message before', async () => {
    const messages: ChatCompletionCreateParams['messages'] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: null, refusal: 'no' },
      { role: 'user', content: 'Who am I?' },
    ];
    const { choices } = await chat('', { messages });
    expect(choices[0]?.message.content).toMatch(/"Who am I\?".*"My name is Ada\."/);
  });

  it('acknowledge pictures, sounds and files', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
    ] as const;
    const { choices } = await chat('', { messages: [{ role: 'user', content: [...content] }] });
    expect(choices[0]?.message.content).toContain('Attached: image, sound, file.');
  });

  it('call a tool that the question speaks of, with arguments for its schema', async () => {
    const { choices } = await chat('How is the weather in Oslo?', { tools: [clock, weather] });
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(choices[0]?.message.tool_calls).toEqual([
      {
        id: expect.stringMatching(/^call_/),
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"demo","unit":"celsius"}' },
      },
    ]);
  });

  it.each([
    ['asked for nothing of the kind', 'Good morning', 'auto', []],
    ['told that one is required', 'Good morning', 'required', ['get_weather']],
    ['told which', 'Good morning', { type: 'function', function: { name: 'read_clock' } }, ['read_clock']],
    ['told none', 'How is the weather?', 'none', []],
    ['asked for two', 'Weather and clock', 'auto', ['get_weather', 'read_clock']],
  ] as const)('call the right tools when %s', async (_, question, toolChoice, expected) => {
    const completion = await chat(question, { tools: [weather, clock], tool_choice: toolChoice });
    const calls = completion.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual(expected);
  });

  it('call one tool only if parallel calls are off', async () => {
    const completion = await chat('Weather and clock', { tools: [weather, clock], parallel_tool_calls: false });
    expect(completion.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it('stream tool calls with dense indices, the id and name once', async () => {
    const chunks = await stream('Weather and clock', { tools: [weather, clock] });
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    const argumentsOf = (index: number) =>
      deltas.map((delta) => (delta.index === index ? (delta.function?.arguments ?? '') : '')).join('');
    expect(argumentsOf(0)).toBe('{"city":"demo","unit":"celsius"}');
    expect(argumentsOf(1)).toBe('{}');
    expect(deltas.filter((delta) => delta.id).map((delta) => delta.index)).toEqual([0, 1]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('pass the checks of the SDK that assembles streams', async () => {
    const runner = harness.client.chat.completions.stream({
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'weather' }],
      tools: [weather],
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await runner.finalChatCompletion();
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'get_weather' } });
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it('call no tool of an agent that would write a file or run a command, unless it is demanded', async () => {
    const properties = { file_path: { type: 'string' }, content: { type: 'string' } };
    const write = {
      type: 'function' as const,
      function: { name: 'Write', parameters: { type: 'object', properties } },
    };
    const unasked = await chat('Write hello to a file', { tools: [write] });
    expect(unasked.choices[0]?.finish_reason).toBe('stop');
    const demanded = await chat('Write hello to a file', { tools: [write], tool_choice: 'required' });
    expect(demanded.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('call a custom tool with free text', async () => {
    const tools: ChatCompletionTool[] = [{ type: 'custom', custom: { name: 'run_code' } }];
    const completion = await chat('run_code please', { tools });
    expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'custom',
      custom: { name: 'run_code', input: 'run_code please' },
    });
    const lines = await stream('run_code please', { tools });
    expect(JSON.stringify(lines)).toContain('"custom":{"name":"run_code","input":""}');
  });

  it('answer in text after the result of a tool', async () => {
    const messages: ChatCompletionCreateParams['messages'] = [
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain, 7 degrees' },
    ];
    const { choices } = await chat('', { messages, tools: [weather] });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(choices[0]?.message.content).toContain('The tool answered: "Rain, 7 degrees"');
  });

  it('keep to a JSON schema, streamed too', async () => {
    const extra: Extra = {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'person',
          strict: true,
          schema: { type: 'object', properties: { age: { type: 'integer', minimum: 18 } }, required: ['age'] },
        },
      },
    };
    const completion = await chat('Who?', extra);
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ age: 18 });
    expect(contentOf(await stream('Who?', extra))).toBe(completion.choices[0]?.message.content);
  });

  it('are a JSON object for json_object', async () => {
    const completion = await chat('Who?', { response_format: { type: 'json_object' } });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({
      message: expect.stringContaining('demo'),
    });
  });

  it('take null for absent', async () => {
    const extra = { tools: null, stop: null, n: null, response_format: null, tool_choice: null, stream_options: null };
    expect(await refusal({ messages: [{ role: 'user', content: 'x' }], ...extra })).toMatchObject({ status: 200 });
  });

  it.each([
    [{}, 'missing_required_parameter', 'messages'],
    [{ messages: [] }, 'missing_required_parameter', 'messages'],
    [{ messages: 'hi' }, 'invalid_type', 'messages'],
    [{ messages: ['hi'] }, 'invalid_type', 'messages[0]'],
    [{ messages: [{ content: 'hi' }] }, 'invalid_value', 'messages[0].role'],
    [{ messages: [{ role: 'constructor', content: 'hi' }] }, 'invalid_value', 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 'x' }], n: 0 }, 'invalid_value', 'n'],
    [{ messages: [{ role: 'user', content: 'x' }], n: 1.5 }, 'invalid_type', 'n'],
    [{ messages: [{ role: 'user', content: 'x' }], max_tokens: 'many' }, 'invalid_type', 'max_tokens'],
    [{ messages: [{ role: 'user', content: 'x' }], stream: 'yes' }, 'invalid_type', 'stream'],
    [{ messages: [{ role: 'user', content: 'x' }], stop: 5 }, 'invalid_type', 'stop'],
  ])('refuse %j with %s', async (body, code, param) => {
    const { status, body: error } = await refusal(body);
    expect(status).toBe(400);
    expect(error).toEqual({ error: { message: expect.any(String), type: 'invalid_request_error', param, code } });
  });

  it('are refused with the error class that the SDK knows', async () => {
    await expect(chat('x', { messages: [] })).rejects.toBeInstanceOf(BadRequestError);
  });
});
