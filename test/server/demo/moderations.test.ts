import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoHarness, startHarness } from './harness.ts';

describe('moderations', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  it('judge thirteen categories, with no model named', async () => {
    const { id, model, results } = await harness.client.moderations.create({ input: 'A sunny day' });
    expect(id).toMatch(/^modr-/);
    expect(model).toBe('demo-chat');
    expect(results[0]?.flagged).toBe(false);
    const names = Object.keys(results[0]?.categories ?? {});
    expect(names).toHaveLength(13);
    expect(Object.keys(results[0]?.category_scores ?? {})).toEqual(names);
    expect(Object.keys(results[0]?.category_applied_input_types ?? {})).toEqual(names);
  });

  it('flag words of violence, and nothing else', async () => {
    const { results } = await harness.client.moderations.create({ input: ['I will kill the process', 'Peace'] });
    expect(results.map((result) => result.flagged)).toEqual([true, false]);
    const flagged = Object.entries(results[0]?.categories ?? {}).filter(([, isFlagged]) => isFlagged);
    expect(flagged).toEqual([['violence', true]]);
    expect(results[0]?.category_scores.violence).toBeGreaterThan(0.5);
    expect(results[0]?.category_scores.hate).toBeLessThan(0.001);
  });

  it('give the same scores for the same text', async () => {
    const [first, second] = [
      await harness.client.moderations.create({ input: 'Same' }),
      await harness.client.moderations.create({ input: 'Same' }),
    ];
    expect(first.results).toEqual(second.results);
  });

  it('judge text and pictures of one message together', async () => {
    const { results } = await harness.client.moderations.create({
      input: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    });
    expect(results).toHaveLength(1);
    expect(results[0]?.category_applied_input_types).toMatchObject({ violence: ['text', 'image'], hate: ['text'] });
  });

  it.each([
    [{}, 'missing_required_parameter', 'input'],
    [{ input: 7 }, 'invalid_type', 'input'],
    [{ input: [{ type: 'sound' }] }, 'invalid_type', 'input[0]'],
  ])('refuse %j', async (body, code, param) => {
    const response = await harness.request('POST', '/moderations', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });
});
