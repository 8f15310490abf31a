/** Requests of hundreds of thousands of values are translated without any other client waiting for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HeavyNeighbours } from './heavy-neighbours.ts';

const neighbours = new HeavyNeighbours();
beforeAll(() => neighbours.start(), 60_000);
afterAll(() => neighbours.stop());

/** In one go, each of these took 350 ms or more. A busy machine adds some. */
const mostWaitMs = 250;
const times = (count: number, text: string) => Array.from({ length: count }, () => text).join(',');

const message = JSON.stringify({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
  content: [{ type: 'text', text: 'Good morning' }],
  usage: { input_tokens: 1, output_tokens: 1 },
});

test('a chat of 100,000 small blocks for Anthropic delays no one', async () => {
  neighbours.answer = { type: 'application/json', body: message };
  const blocks = times(100_000, '{"type":"text","text":"x"}');
  const body = `{"model":"of-anthropic-messages","messages":[{"role":"user","content":[${blocks}]}]}`;
  const waited = await neighbours.leastWaitDuring(async () => {
    const outcome = await neighbours.ask('/v1/chat/completions', body);
    expect(outcome).toMatchObject({ status: 200, tail: expect.stringContaining('Good morning') });
  }, mostWaitMs);
  expect(neighbours.sentBytes).toBeGreaterThan(2_500_000);
  expect(waited).toBeLessThan(mostWaitMs);
});

test('a history of 20,000 calls for a stream delays no one, and neither does its stream', async () => {
  const events = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Good ' } }] },
    { choices: [{ index: 0, delta: { content: 'morning' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ].map((event) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...event })}\n\n`);
  neighbours.answer = { type: 'text/event-stream', body: `${events.join('')}data: [DONE]\n\n` };
  const calls = times(20_000, '{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}');
  const body = `{"model":"of-openai-chat","stream":true,"store":false,"input":[{"role":"user","content":"x"},${calls}]}`;
  const waited = await neighbours.leastWaitDuring(async () => {
    const outcome = await neighbours.ask('/v1/responses', body);
    expect(outcome).toMatchObject({ status: 200, tail: expect.stringContaining('response.completed') });
    expect(outcome.tail).toContain('Good morning');
  }, mostWaitMs);
  expect(waited).toBeLessThan(mostWaitMs);
});

test.each(['continues a response', 'names an item of one'])(
  'a request of 200,000 items that %s delays no one',
  async (how) => {
    neighbours.answer = { type: 'application/json', body: message };
    const model = 'of-anthropic-messages';
    const { tail } = await neighbours.ask('/v1/responses', JSON.stringify({ model, input: 'Hello' }));
    const item = /"id":"(msg_[^"]+)"/.exec(tail)?.[1];
    const response = /"id":"(resp_[^"]+)"/.exec(tail)?.[1];
    expect([item, response]).toEqual([expect.any(String), expect.any(String)]);
    const items = times(200_000, '{"role":"user","content":"x"}');
    const named =
      how === 'continues a response' ? '{"role":"user","content":"y"}' : `{"type":"item_reference","id":"${item}"}`;
    const continued = how === 'continues a response' ? `"previous_response_id":"${response}",` : '';
    const body = `{"model":"${model}","store":false,${continued}"input":[${items},${named}]}`;
    const waited = await neighbours.leastWaitDuring(async () => {
      const outcome = await neighbours.ask('/v1/responses', body);
      expect(outcome).toMatchObject({ status: 200, tail: expect.stringContaining('Good morning') });
    }, mostWaitMs);
    expect(waited).toBeLessThan(mostWaitMs);
  },
);

test('a large request that is no request is refused by the field’s name', async () => {
  const body = `{"model":"of-openai-chat","input":7,"metadata":"${'x'.repeat(1_200_000)}"}`;
  const outcome = await neighbours.ask('/v1/responses', body);
  expect(outcome).toMatchObject({ status: 400, tail: expect.stringContaining('"param":"input"') });
});
