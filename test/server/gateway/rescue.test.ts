import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk } from './streams.ts';
import { answer, chat, chunksOf, data, done, startTwo, streams, type TwoUpstreams, textOf } from './two-upstreams.ts';

const policy = { retries: 1, fallbacks: 1, timeouts: { idleMs: 1_000, firstContentMs: 30_000 } };
let both: TwoUpstreams;

// New upstreams for each test, because a failure would count against the target's health in the next test.
beforeEach(async () => {
  both = await startTwo(policy, { two: { preset: 'mistral' } });
});
afterEach(() => both.stop());

async function ask(more: object = {}, from = both) {
  const response = await from.gateway.fetch('/chat/completions', chat(more));
  const text = await response.text();
  const record = await from.gateway.record(response.headers.get('x-sluice-request-id') ?? '');
  return { text, record, chunks: chunksOf(text) };
}

const whole = ['Once ', 'upon ', 'a time.'];
const broken = (count: number) => answer('one', ...whole).slice(0, 1 + count);
const noUsage = { stream_options: { include_usage: false } };

describe('a chat stream that breaks after content', () => {
  test.each(['breaks', 'stalls', 'ends'] as const)(
    '(%s) continues with what the next target sends beyond it',
    async (how) => {
      streams(both.one, broken(2), how);
      streams(both.two, answer('two', 'On', 'ce upon a', ' time', '.'));
      const { text, chunks, record } = await ask(noUsage);
      expect(textOf(text)).toBe('Once upon a time.');
      expect(text.endsWith(done)).toBe(true);
      expect(text).not.toContain('error');
      const named = chunks.filter((one) => typeof one === 'object');
      expect(new Set(named.map((one) => `${one.id} ${one.model}`))).toEqual(new Set(['chatcmpl-one model-of-one']));
      expect(named.filter((one) => one.choices[0]?.finish_reason)).toHaveLength(1);
      expect(record).toMatchObject({
        outcome: 'ok',
        status: 200,
        provider: 'two',
        attempts: [
          { provider: 'one', cause: 'first', failure: 'stream-broken', status: 200 },
          { provider: 'two', cause: 'rescue', failure: null, status: 200 },
        ],
      });
    },
  );

  test('is requested once more if there is no other target', async () => {
    const alone = await startTwo({ ...policy, fallbacks: 0 });
    let asked = 0;
    const [start, rest] = [broken(1).join(''), answer('again', ...whole).join('')];
    alone.one.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (++asked > 1) response.end(rest);
      else response.write(start, () => setTimeout(() => response.destroy(), 20));
    });
    const { text, record } = await ask(noUsage, alone);
    expect(textOf(text)).toBe('Once upon a time.');
    expect(record.attempts).toMatchObject([{ cause: 'first' }, { cause: 'rescue', provider: 'one' }]);
    await alone.stop();
  });

  test('that lacks only its end gets it', async () => {
    streams(both.one, answer('one', ...whole).slice(0, -1), 'breaks');
    const { text, record } = await ask(noUsage);
    expect([textOf(text), text.endsWith(done)]).toEqual(['Once upon a time.', true]);
    expect(record).toMatchObject({ outcome: 'ok', attempts: [{ provider: 'one', failure: null }] });
    expect(both.two.seen).toHaveLength(0);
  });

  test('because of an error event continues, and the client does not see the error', async () => {
    streams(both.one, [...broken(1), data({ error: { message: 'Overloaded', code: 'server_is_overloaded' } })]);
    streams(both.two, answer('two', ...whole));
    const { text, record } = await ask(noUsage);
    expect(textOf(text)).toBe('Once upon a time.');
    expect(text).not.toContain('Overloaded');
    expect(record.attempts).toMatchObject([
      { failure: 'stream-broken', error: 'status 503: Overloaded' },
      { cause: 'rescue', failure: null },
    ]);
  });

  test('keeps only the reasoning of the first target', async () => {
    const thinking = (id: string, text: string) => data({ ...chunk({ reasoning_content: text }), id });
    streams(both.one, [thinking('chatcmpl-one', 'Hm'), ...broken(1)], 'breaks');
    streams(both.two, [thinking('chatcmpl-two', 'Otherwise'), ...answer('two', ...whole)]);
    const { text } = await ask(noUsage);
    expect(textOf(text)).toBe('Once upon a time.');
    expect(text).not.toContain('Otherwise');
  });

  test('gets the usage of the second target if the client asked for usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    streams(both.one, broken(1), 'breaks');
    const events = answer('two', ...whole);
    streams(both.two, [...events.slice(0, -1), data({ ...chunk({}), choices: [], usage }), done]);
    const asked = await ask({ stream_options: { include_usage: true } });
    expect(asked.chunks.at(-2)).toMatchObject({ id: 'chatcmpl-one', choices: [], usage });
    const unasked = await ask();
    expect(unasked.text).not.toContain('usage');
    expect(unasked.record.attempts[1]).toMatchObject({ cause: 'rescue' });
  });
});

describe('a legacy completion that breaks', () => {
  const piece = (text: string, finish_reason: string | null = null) =>
    data({ id: 'cmpl-x', object: 'text_completion', choices: [{ text, index: 0, logprobs: null, finish_reason }] });
  const texts = (text: string) => chunksOf(text).map((one) => one.choices?.[0]?.text ?? '');
  const complete = async (more: object = {}) => {
    const body = JSON.stringify({ model: 'gpt-x', stream: true, prompt: 'Once', ...noUsage, ...more });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    return await (await both.gateway.fetch('/completions', init)).text();
  };

  test('continues with what the next target sends beyond it', async () => {
    streams(both.one, [piece(' up'), piece('on a \u{1F30D}')], 'breaks');
    streams(both.two, [piece(' upon '), piece('a \u{1F30D} time'), piece('.'), piece('', 'stop'), done]);
    const text = await complete();
    expect(texts(text)).toEqual([' up', 'on a \u{1F30D}', ' time', '.', '', '']);
    expect(text.endsWith(done)).toBe(true);
  });

  test('ends with the error event if the next target sends something else, whatever it could do for a chat', async () => {
    streams(both.one, [piece(' upon')], 'breaks');
    streams(both.two, [piece(' more'), piece('', 'stop'), done]);
    expect(chunksOf(await complete()).at(-1)).toHaveProperty('error');
    expect(both.two.seen).toHaveLength(1);
  });

  test.each([{ logprobs: 1 }, { echo: true }, { suffix: 'end' }, { prompt: ['a', 'b'] }])(
    'is not continued for %j',
    async (more) => {
      streams(both.one, [piece(' upon')], 'breaks');
      expect(chunksOf(await complete(more)).at(-1)).toHaveProperty('error');
      expect(both.two.seen).toHaveLength(0);
    },
  );
});

describe('a second answer that differs', () => {
  test('is continued if the target supports that', async () => {
    streams(both.one, broken(2), 'breaks');
    both.two.answer((request, response) => {
      const { messages } = JSON.parse(request.body.toString());
      const isContinuation = messages.at(-1).role === 'assistant';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end((isContinuation ? answer('two', 'a', ' day.') : answer('two', 'There was.')).join(''));
    });
    const { text, record } = await ask(noUsage);
    expect(textOf(text)).toBe('Once upon a day.');
    expect(record.attempts).toMatchObject([
      { provider: 'one', failure: 'stream-broken' },
      { provider: 'two', cause: 'rescue', failure: null, error: expect.stringContaining('otherwise') },
      { provider: 'two', cause: 'rescue', failure: null, error: null },
    ]);
    expect(JSON.parse(both.two.seen[1]?.body.toString() ?? '').messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Once upon ', prefix: true },
    ]);
  });

  test('that repeats the text it was given is sent without the repetition', async () => {
    streams(both.one, broken(2), 'breaks');
    both.two.answer((request, response) => {
      const { messages } = JSON.parse(request.body.toString());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const isContinuation = messages.at(-1).role === 'assistant';
      response.end(answer('two', ...(isContinuation ? ['Once ', 'upon a', ' day.'] : ['No'])).join(''));
    });
    expect(textOf((await ask(noUsage)).text)).toBe('Once upon a day.');
  });

  test('leads to the error event if the target cannot continue a text', async () => {
    const plain = await startTwo(policy);
    streams(plain.one, broken(2), 'breaks');
    streams(plain.two, answer('two', 'There was.'));
    const { text, record } = await ask(noUsage, plain);
    expect(textOf(text)).toBe('Once upon ');
    expect(chunksOf(text).at(-1)).toMatchObject({ error: { code: 'upstream_stream_broken' } });
    expect(record).toMatchObject({ outcome: 'stream-broken', errorCode: 'upstream_stream_broken' });
    expect(plain.two.seen).toHaveLength(1);
    await plain.stop();
  });

  test('by being shorter leads to the error event too', async () => {
    const plain = await startTwo(policy);
    streams(plain.one, broken(2), 'breaks');
    streams(plain.two, answer('two', 'Once '));
    expect(chunksOf((await ask(noUsage, plain)).text).at(-1)).toHaveProperty('error');
    await plain.stop();
  });
});

describe('nothing is rescued', () => {
  const tool = data({
    ...chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
    id: 'x',
  });

  test.each([
    ['after a call of a tool has begun', {}, [...broken(1), tool]],
    ['with several choices', { n: 2 }, broken(1)],
  ])('%s', async (_name, more, events) => {
    streams(both.one, events, 'breaks');
    const { text, record } = await ask({ ...noUsage, ...more });
    expect(chunksOf(text).at(-1)).toHaveProperty('error');
    expect(record).toMatchObject({ outcome: 'stream-broken', attempts: [{ provider: 'one' }] });
    expect(both.two.seen).toHaveLength(0);
  });

  test('if the group has turned it off', async () => {
    const off = await startTwo({ ...policy, rescue: 'off' });
    streams(off.one, broken(1), 'breaks');
    const { record } = await ask(noUsage, off);
    expect(record).toMatchObject({ outcome: 'stream-broken', attempts: [{ provider: 'one' }] });
    await off.stop();
  });
});
