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

  it('give one result for each text', async () => {
    const { results } = await harness.client.moderations.create({ input: ['One', 'Two'] });
    expect(results.map((result) => result.flagged)).toEqual([false, false]);
  });

  it('judge text and pictures of one message together', async () => {
    const { results } = await harness.client.moderations.create({
      input: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    });
    expect(results).toHaveLength(1);
  });

  it('refuse a request without input', async () => {
    const response = await harness.request('POST', '/moderations', {});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'missing_required_parameter', param: 'input' } });
  });
});
