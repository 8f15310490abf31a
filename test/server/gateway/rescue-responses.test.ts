/** A response stream that breaks: the client still receives one continuous stream. */
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json } from '../../support/upstream.ts';
import { responseObject, responsesUsage } from './streams.ts';
import { startTwo, streams, type TwoUpstreams } from './two-upstreams.ts';

const policy = { retries: 1, fallbacks: 1, timeouts: { idleMs: 1_000, firstContentMs: 30_000 } };
let both: TwoUpstreams;
beforeEach(async () => {
  both = await startTwo(policy, { two: { preset: 'mistral' } });
});
afterEach(() => both.stop());

type Item = Record<string, unknown>;
const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
const reasoning = (who: string): Item => ({ id: `rs_${who}`, type: 'reasoning', summary: [] });
const call = (who: string): Item => ({
  id: `fc_${who}`,
  type: 'function_call',
  call_id: 'call_1',
  name: 'f',
  arguments: '{}',
});

/** The events of an answer by `who`; `before` and `after` are items around its message. */
function answer(who: string, pieces: readonly string[], before: Item[] = [], after: Item[] = []): string[] {
  const [id, index] = [`msg_${who}`, before.length];
  const at = { item_id: id, output_index: index, content_index: 0 };
  const text = pieces.join('');
  const message = { id, type: 'message', role: 'assistant', status: 'completed', content: [part(text)] };
  const response = (status: string, more: object = {}) =>
    responseObject(status, { id: `resp_${who}`, model: `model-of-${who}`, ...more });
  const whole = (item: Item, output_index: number) => [
    { type: 'response.output_item.added', output_index, item },
    { type: 'response.output_item.done', output_index, item },
  ];
  return [
    { type: 'response.created', response: response('in_progress') },
    { type: 'response.in_progress', response: response('in_progress') },
    ...before.flatMap(whole),
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...message, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part: part('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part: part(text) },
    { type: 'response.output_item.done', output_index: index, item: message },
    ...after.flatMap((item, place) => whole(item, index + 1 + place)),
    {
      type: 'response.completed',
      response: response('completed', { output: [...before, message, ...after], usage: usageOf(who) }),
    },
  ].map(({ type, ...rest }, sequence_number) => {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...rest })}\n\n`;
  });
}

const usageOf = (who: string) => ({ ...responsesUsage, output_tokens: who.length });

async function ask(more: object = {}, from = both) {
  const body = JSON.stringify({ model: 'gpt-x', input: 'Hi', stream: true, ...more });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const response = await from.gateway.fetch('/responses', init);
  const text = await response.text();
  const record = await from.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  const events = text.split('\n\n').filter((event) => event.includes('data: '));
  return { record, events: events.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6))) };
}

const whole = ['Once ', 'upon ', 'a "time"', ' \u{1F30D}.'];
const other = ['On', 'ce upon a', ' "time" \ud83c', '\udf0d', '.'];
const text = whole.join('');

/** Expects one continuous stream, as the first upstream would have sent it. */
function expectOneStream(events: Record<string, unknown>[], types: readonly string[]): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  const counted = events.map(({ type }) => type).filter((type) => type !== 'response.output_text.delta');
  expect(counted).toEqual(types);
  expect(JSON.stringify(events)).not.toMatch(/_two|of-two/);
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe(text);
}

const plainTypes = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
];
const count = answer('one', whole).length;

describe('the stream of a response that breaks', () => {
  const places = Array.from({ length: count - 3 }, (_, index) => index + 3);
  test.each(places)('after %i of its events continues with the rest of the next provider’s answer', async (place) => {
    streams(both.one, answer('one', whole).slice(0, place), place % 2 === 0 ? 'ends' : 'breaks');
    streams(both.two, answer('two', other));
    const { events, record } = await ask();
    expectOneStream(events, plainTypes);
    const message = { id: 'msg_one', content: [part(text)] };
    expect(events.at(-1).response).toMatchObject({
      id: 'resp_one',
      model: 'model-of-one',
      status: 'completed',
      output: [message],
      usage: usageOf('two'),
    });
    expect(events.at(-2)).toMatchObject({ output_index: 0, item: message });
    expect(events.at(-4)).toMatchObject({ item_id: 'msg_one', text });
    expect(record).toMatchObject({
      outcome: 'ok',
      provider: 'two',
      attempts: [
        { provider: 'one', cause: 'first', failure: 'stream-broken' },
        { provider: 'two', cause: 'rescue', failure: null },
      ],
    });
  });

  test('by a stall or in the middle of an event is continued in the same way', async () => {
    const events = answer('one', whole);
    streams(both.one, [...events.slice(0, 6), events[6]?.slice(0, 90) ?? ''], 'stalls');
    streams(both.two, answer('two', other));
    expectOneStream((await ask()).events, plainTypes);
  });

  test('is continued in the same way if its events repeat long instructions', async () => {
    const instructions = 'x'.repeat(200_000);
    const long = (events: string[]) =>
      events.map((event) => event.replace('"error":null', `"instructions":"${instructions}"`));
    streams(both.one, long(answer('one', whole)).slice(0, 6), 'breaks');
    streams(both.two, long(answer('two', other)));
    expectOneStream((await ask()).events, plainTypes);
  });

  test('by an error event is continued in the same way, and the client does not see the error', async () => {
    const error = { type: 'error', sequence_number: 6, error: { message: 'Overloaded', code: 'server_is_overloaded' } };
    streams(both.one, [...answer('one', whole).slice(0, 6), `event: error\ndata: ${JSON.stringify(error)}\n\n`]);
    streams(both.two, answer('two', other));
    expectOneStream((await ask()).events, plainTypes);
  });

  test.each([3, 5, 6, 8, 12])(
    'after %i events is a complete response to the helper of the official SDK',
    async (place) => {
      streams(both.one, answer('one', whole).slice(0, place), 'breaks');
      streams(both.two, answer('two', other));
      const stream = both.gateway.client.responses.stream({ model: 'gpt-x', input: 'Hi' });
      let shown = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        shown += delta;
      });
      const final = await stream.finalResponse();
      expect([shown, final.output_text, final.id]).toEqual([text, text, 'resp_one']);
    },
  );
});

describe('reasoning before the message', () => {
  const begun = (events: string[], type: string) => 1 + events.findIndex((event) => event.includes(`"type":"${type}"`));
  const withReasoning = [...plainTypes.slice(0, 2), 'response.output_item.added', 'response.output_item.done'];

  test.each([
    ['has come', 'response.content_part.added', [reasoning('two')]],
    ['has come, and the next does without', 'response.content_part.added', []],
    ['is announced alone', 'response.output_item.added', [reasoning('two')]],
    ['is announced alone, and the next does without', 'response.output_item.added', []],
  ] as const)('that %s is kept from the first provider', async (_name, last, theirs) => {
    const events = answer('one', whole, [reasoning('one')]);
    streams(both.one, events.slice(0, begun(events, last)), 'breaks');
    streams(both.two, answer('two', other, [...theirs]));
    const got = await ask();
    if (last === 'response.content_part.added') expectOneStream(got.events, [...withReasoning, ...plainTypes.slice(2)]);
    const { output } = got.events.at(-1).response;
    expect(output[0]).toEqual(reasoning('one'));
    expect(output[1].content).toEqual([part(text)]);
    expect(output).toHaveLength(2);
    const numbers = got.events.map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(got.events.filter(({ type }) => type === 'response.output_item.done')).toMatchObject([
      { output_index: 0, item: reasoning('one') },
      { output_index: 1, item: { type: 'message' } },
    ]);
  });

  test('shifts the positions of what the next provider sends after its message', async () => {
    const events = answer('one', whole, [reasoning('one')]);
    streams(both.one, events.slice(0, 7), 'breaks');
    streams(both.two, answer('two', other, [], [call('x')]));
    const got = await ask();
    expect(got.events.find(({ item }) => item?.type === 'function_call')).toMatchObject({ output_index: 2 });
    const { output } = got.events.at(-1).response;
    expect(output.map(({ id }: Item) => id)).toEqual(['rs_one', 'msg_one', 'fc_x']);
  });
});

describe('nothing is rescued', () => {
  const expectBroken = async (more: object = {}, asked = 0) => {
    const { events, record } = await ask(more);
    const [error, failed] = events.slice(-2);
    expect(error).toMatchObject({ type: 'error', error: { code: 'upstream_stream_broken' } });
    expect(failed).toMatchObject({ type: 'response.failed', response: { id: 'resp_one', status: 'failed' } });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(record.outcome).toBe('stream-broken');
    expect(both.two.seen).toHaveLength(asked);
  };

  test('if the next provider sends something else, and an official SDK gets an error', async () => {
    streams(both.one, answer('one', whole).slice(0, 6), 'breaks');
    streams(both.two, answer('two', ['There was.']));
    await expectBroken({}, 1);
    const stream = both.gateway.client.responses.stream({ model: 'gpt-x', input: 'Hi' });
    await expect(stream.finalResponse()).rejects.toThrow(OpenAI.APIError);
  });

  test.each([
    ['less', ['Once ']],
    ['a call first', whole, [call('two')]],
  ] as const)('if the next provider sends %s', async (_name, pieces, before: readonly Item[] = []) => {
    streams(both.one, answer('one', whole).slice(0, 6), 'breaks');
    streams(both.two, answer('two', pieces, [...before]));
    await expectBroken({}, 1);
  });

  test('after a tool call has begun', async () => {
    const events = answer('one', whole, [call('one')]);
    streams(both.one, events.slice(0, 3), 'breaks');
    await expectBroken();
  });

  test('once the next provider has called a tool and breaks too', async () => {
    streams(both.one, answer('one', whole).slice(0, 6), 'breaks');
    const events = answer('two', other, [], [call('two')]);
    streams(both.two, events.slice(0, -2), 'breaks');
    await expectBroken({}, 1);
  });

  test.each([{ background: true }, { conversation: 'conv_1' }])('of a request with %j', async (more) => {
    streams(both.one, answer('one', whole).slice(0, 6), 'breaks');
    await expectBroken(more);
  });
});

describe('a stored response that a second provider continued', () => {
  const rescued = async (more: object = {}) => {
    streams(both.one, answer('one', whole).slice(0, 6), 'breaks');
    streams(both.two, answer('two', other));
    await ask(more);
    both.two.answer((_request, response) => json(response, responseObject('completed', { id: 'resp_two' })));
  };
  const latest = () => `${both.two.seen.at(-1)?.method} ${both.two.seen.at(-1)?.url}`;

  test.each(['resp_one', 'resp_two'])('is retrieved from the second provider, under both ids: %s', async (id) => {
    await rescued();
    expect((await both.gateway.client.responses.retrieve(id)).id).toBe('resp_two');
    expect(latest()).toBe('GET /v1/responses/resp_two');
    await both.gateway.client.responses.inputItems.list(id);
    expect(latest()).toMatch(/^GET \/v1\/responses\/resp_two\/input_items/);
    expect(both.one.seen).toHaveLength(1);
  });

  test('is what previous_response_id continues, at the second provider', async () => {
    await rescued();
    await both.gateway.client.responses.create({ model: 'gpt-x', input: 'And?', previous_response_id: 'resp_one' });
    expect(JSON.parse(both.two.seen.at(-1)?.body.toString() ?? '')).toEqual({
      model: 'gpt-x',
      input: 'And?',
      previous_response_id: 'resp_two',
    });
  });

  test('is deleted at the second provider', async () => {
    await rescued();
    await both.gateway.client.responses.delete('resp_one');
    expect(latest()).toBe('DELETE /v1/responses/resp_two');
    await expect(both.gateway.client.responses.retrieve('resp_one')).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('cannot be retrieved if the client set store: false', async () => {
    await rescued({ store: false });
    await expect(both.gateway.client.responses.retrieve('resp_one')).rejects.toThrow(OpenAI.NotFoundError);
    await expect(both.gateway.client.responses.retrieve('resp_two')).rejects.toThrow(OpenAI.NotFoundError);
  });
});
