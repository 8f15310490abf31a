import type { ResponseCreateParamsNonStreaming, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type DemoHarness, startHarness } from './harness.ts';

const weather = {
  type: 'function',
  name: 'get_weather',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

describe('responses', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  type Request = Omit<ResponseCreateParamsNonStreaming, 'model' | 'stream'>;
  const create = (request: Request) =>
    harness.client.responses.create({ model: 'demo-chat', ...request, stream: false });
  const stream = async (request: Request) =>
    collect(await harness.client.responses.create({ model: 'demo-chat', ...request, stream: true }));
  /** The types in order, with consecutive duplicates removed. */
  const order = (events: ResponseStreamEvent[]) =>
    events.map((event) => event.type).filter((type, index, types) => type !== types[index - 1]);
  const refusal = async (method: string, path: string, body?: object) => {
    const response = await harness.request(method, path, body);
    return { status: response.status, ...(await response.json()) };
  };

  it('answer with a message and have every required field', async () => {
    const response = await create({ input: 'Hello', instructions: 'Be kind.', metadata: { a: 'b' } });
    const { output_text: text, ...wire } = response;
    expect(text).toContain('"Hello"');
    expect(wire).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: 'Be kind.',
      max_output_tokens: null,
      metadata: { a: 'b' },
      model: 'demo-chat',
      parallel_tool_calls: true,
      previous_response_id: null,
      store: true,
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      truncation: 'disabled',
      usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    });
    expect(wire.output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ]);
  });

  it('stream text in the order of events that OpenAI sends', async () => {
    const events = await stream({ input: 'Hello' });
    expect(order(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    const last = events.at(-1);
    const plain = await create({ input: 'Hello' });
    expect(text).toBe(plain.output_text);
    expect(last?.type === 'response.completed' && last.response).toMatchObject({
      status: 'completed',
      usage: plain.usage,
      output: [{ content: [{ text }] }],
    });
  });

  it('name every event after its type and send no [DONE]', async () => {
    const body = { model: 'demo-chat', input: 'x', stream: true };
    const text = await (await harness.request('POST', '/responses', body)).text();
    const events = text.trim().split('\n\n');
    for (const event of events) expect(event).toMatch(/^event: (\S+)\ndata: \{"type":"\1",/);
    expect(text).not.toContain('[DONE]');
  });

  it('call functions, each with its own place in the output', async () => {
    const clock = { ...weather, name: 'read_clock' };
    const request: Request = { input: 'weather and clock', tools: [weather, clock] };
    const { output } = await create(request);
    expect(output).toMatchObject([
      { type: 'function_call', name: 'get_weather', arguments: '{"city":"demo"}', status: 'completed' },
      { type: 'function_call', name: 'read_clock' },
    ]);
    const events = await stream(request);
    expect(order(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const added = events.filter((event) => event.type === 'response.output_item.added');
    expect(added).toMatchObject([
      { output_index: 0, item: { status: 'in_progress', arguments: '', name: 'get_weather' } },
      { output_index: 1, item: { status: 'in_progress', arguments: '', name: 'read_clock' } },
    ]);
    expect(events.find((event) => event.type === 'response.function_call_arguments.done')).toMatchObject({
      name: 'get_weather',
      arguments: '{"city":"demo"}',
    });
  });

  it('call custom tools with free text, and pass over hosted ones', async () => {
    const request: Request = {
      input: 'run_code now',
      tools: [{ type: 'web_search' }, { type: 'custom', name: 'run_code' }],
    };
    expect((await create(request)).output).toMatchObject([{ type: 'custom_tool_call', input: 'run_code now' }]);
    expect(order(await stream(request))).toContain('response.custom_tool_call_input.done');
  });

  it('pass the checks of the SDK that assembles streams', async () => {
    const runner = harness.client.responses.stream({ model: 'demo-chat', input: 'weather', tools: [weather] });
    const final = await runner.finalResponse();
    expect(final.output[0]).toMatchObject({ type: 'function_call', parsed_arguments: { city: 'demo' } });
  });

  it('answer in text after the output of a function', async () => {
    const { id, output } = await create({ input: 'weather?', tools: [weather] });
    const call = output[0];
    const callId = call?.type === 'function_call' ? call.call_id : '';
    const { output_text: text } = await create({
      previous_response_id: id,
      tools: [weather],
      input: [{ type: 'function_call_output', call_id: callId, output: 'Snow' }],
    });
    expect(text).toContain('The tool answered: "Snow"');
  });

  it('know the conversation of the response before', async () => {
    const first = await create({ input: 'My name is Ada.' });
    const second = await create({ input: 'Who am I?', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.output_text).toMatch(/"Who am I\?".*"My name is Ada\."/);
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Number.NaN);
  });

  it('keep to a JSON schema', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const { output_text: text } = await create({
      input: 'x',
      text: { format: { type: 'json_schema', name: 'check', schema } },
    });
    expect(JSON.parse(text)).toEqual({ ok: true });
  });

  it('are incomplete at max_output_tokens, streamed too', async () => {
    const request = { input: 'x', max_output_tokens: 16 };
    expect(await create(request)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 16 },
    });
    expect((await stream(request)).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete' },
    });
  });

  it('are stored, given again, and deleted', async () => {
    const { id, output_text: text } = await create({ input: 'Keep this' });
    expect(await harness.client.responses.retrieve(id)).toMatchObject({ id, output_text: text });
    const deleted = await harness.request('DELETE', `/responses/${id}`);
    expect(await deleted.json()).toEqual({ id, object: 'response', deleted: true });
    await expect(harness.client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it('are not stored if the caller says so', async () => {
    const { id } = await create({ input: 'Forget this', store: false });
    await expect(harness.client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(
      await refusal('POST', '/responses', { model: 'demo-chat', input: 'x', previous_response_id: id }),
    ).toMatchObject({
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
  });

  it('list the items they were made from, by pages', async () => {
    const { id } = await create({
      input: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
      ],
    });
    const items = await collect(harness.client.responses.inputItems.list(id, { order: 'asc', limit: 2 }));
    expect(items).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'three' }] },
    ]);
    const page = await (await harness.request('GET', `/responses/${id}/input_items?limit=1`)).json();
    expect(page).toMatchObject({ object: 'list', first_id: items[2]?.id, last_id: items[2]?.id, has_more: true });
  });

  it('run in the background: queued, in progress, completed', async () => {
    const { id, status, output } = await create({ input: 'Slowly', background: true });
    expect({ status, output }).toEqual({ status: 'queued', output: [] });
    harness.advance(500);
    expect(await harness.client.responses.retrieve(id)).toMatchObject({ status: 'in_progress', output: [] });
    harness.advance(500);
    const done = await harness.client.responses.retrieve(id);
    expect(done.status).toBe('completed');
    expect(done.output_text).toContain('Slowly');
    expect((await harness.client.responses.cancel(id)).status).toBe('completed');
  });

  it('are cancelled in the background', async () => {
    const { id } = await create({ input: 'Never', background: true });
    expect(await harness.client.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] });
    harness.advance(5000);
    expect(await harness.client.responses.retrieve(id)).toMatchObject({ status: 'cancelled', output: [] });
    const { id: foreground } = await create({ input: 'Now' });
    expect(await refusal('POST', `/responses/${foreground}/cancel`)).toMatchObject({ status: 400 });
  });

  it('stream in the background, and again from any event on', async () => {
    const events = await stream({ input: 'Again', background: true });
    expect(order(events).slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress']);
    const first = events[0];
    const id = first?.type === 'response.created' ? first.response.id : '';
    const rest = await collect(await harness.client.responses.retrieve(id, { stream: true, starting_after: 4 }));
    expect(rest).toEqual(events.slice(5));
  });

  it('count the tokens of an input', async () => {
    const { usage } = await create({ input: 'How many tokens?', instructions: 'Count.' });
    const counted = await harness.client.responses.inputTokens.count({
      model: 'demo-chat',
      input: 'How many tokens?',
      instructions: 'Count.',
    });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: usage?.input_tokens });
  });

  it('compact a conversation to what can be sent on', async () => {
    const compacted = await harness.client.responses.compact({
      model: 'demo-chat',
      input: [
        { role: 'user', content: 'My name is Ada.' },
        { role: 'assistant', content: 'Hello Ada.' },
      ],
    });
    expect(compacted).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response.compaction',
      output: [
        { type: 'message', role: 'user' },
        { type: 'compaction', id: expect.any(String), encrypted_content: expect.any(String) },
      ],
      usage: { input_tokens: expect.any(Number) },
    });
    const body = { model: 'demo-chat', input: [...compacted.output, { role: 'user', content: 'Who am I?' }] };
    const next = await (await harness.request('POST', '/responses', body)).json();
    expect(next.output[0].content[0].text).toMatch(/"Who am I\?".*"My name is Ada\."/);
  });

  it.each([
    [{}, 'missing_required_parameter', 'input'],
    [{ input: 5 }, 'invalid_type', 'input'],
    [{ input: ['x'] }, 'invalid_type', 'input'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'invalid_value', 'input[0].role'],
    [{ input: 'x', max_output_tokens: 1 }, 'invalid_value', 'max_output_tokens'],
  ])('refuse %j with %s', async (body, code, param) => {
    const refused = await refusal('POST', '/responses', { model: 'demo-chat', ...body });
    expect(refused).toMatchObject({ status: 400, error: { type: 'invalid_request_error', code, param } });
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
  ])('answer %s of an unknown one%s with 404', async (method, rest) => {
    expect(await refusal(method, `/responses/resp_none${rest}`)).toMatchObject({ status: 404, error: { code: null } });
  });
});
