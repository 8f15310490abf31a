import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type DemoHarness, startHarness } from './harness.ts';

describe('legacy completions', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  it('answer a prompt with 16 tokens unless told otherwise', async () => {
    const { choices, usage, object } = await harness.client.completions.create({ model: 'demo-chat', prompt: 'Once' });
    expect(object).toBe('text_completion');
    expect(choices[0]).toMatchObject({ index: 0, logprobs: null, finish_reason: 'length' });
    expect(usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 16, total_tokens: 17 });
  });

  it.each([
    ['one text', 'Once', 1],
    ['several texts', ['Once', 'Twice'], 2],
    ['tokens', [1, 2, 3], 1],
    ['several runs of tokens', [[1, 2], [3]], 2],
  ])('take %s as prompt', async (_, prompt, expected) => {
    const { choices } = await harness.client.completions.create({ model: 'demo-chat', prompt, max_tokens: 500 });
    expect(choices.map((choice) => choice.finish_reason)).toEqual(Array(expected).fill('stop'));
  });

  it('echo the prompt if asked, and give several choices', async () => {
    const request = { model: 'demo-chat', prompt: 'Once upon', echo: true, n: 2 } as const;
    const { choices } = await harness.client.completions.create(request);
    expect(choices.map((choice) => [choice.index, choice.text.startsWith('Once upon')])).toEqual([
      [0, true],
      [1, true],
    ]);
  });

  it('stream the same text and end with the usage, if asked', async () => {
    const request = { model: 'demo-chat', prompt: 'Once', max_tokens: 200 };
    const plain = await harness.client.completions.create(request);
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await collect(await harness.client.completions.create({ ...request, ...options }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text ?? '').join('')).toBe(plain.choices[0]?.text);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage });
    const bare = await collect(await harness.client.completions.create({ ...request, stream: true }));
    expect(bare.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it.each([[{}, 'missing_required_parameter']])('refuse %j with %s', async (body, code) => {
    const response = await harness.request('POST', '/completions', { model: 'demo-chat', ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param: 'prompt' } });
  });
});
