import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoHarness, startHarness } from './harness.ts';

const model = 'demo-embedding';

describe('embeddings', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  const embed = async (input: string | string[] | number[] | number[][], dimensions?: number) => {
    const request = { model, input, ...(dimensions !== undefined && { dimensions }) };
    return (await harness.client.embeddings.create(request)).data.map((entry) => entry.embedding);
  };
  const product = (first: number[] = [], second: number[] = []) =>
    first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0);

  it('are the same for the same text and have length 1', async () => {
    const [[first], [second]] = [await embed('The cat sleeps'), await embed('The cat sleeps')];
    expect(first).toEqual(second);
    expect(first).toHaveLength(1536);
    expect(product(first, first)).toBeCloseTo(1, 5);
  });

  it('lie nearer for texts that share words', async () => {
    const [cat, sameCat, tax] = await embed(['The cat sleeps', 'A cat sleeps well', 'Corporate tax law']);
    expect(product(cat, sameCat)).toBeGreaterThan(product(cat, tax) + 0.3);
  });

  it.each([1, 3, 256, 4096])('have %i dimensions if asked', async (dimensions) => {
    const [vector] = await embed('Some text', dimensions);
    expect(vector).toHaveLength(dimensions);
    expect(product(vector, vector)).toBeCloseTo(1, 5);
  });

  it('give the same numbers as floats and as base64', async () => {
    const floats = await harness.client.embeddings.create({ model, input: 'x y z', encoding_format: 'float' });
    const response = await harness.request('POST', '/embeddings', { model, input: 'x y z', encoding_format: 'base64' });
    const { data } = await response.json();
    const bytes = Buffer.from(data[0].embedding, 'base64');
    const decoded = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
    expect(decoded).toEqual(floats.data[0]?.embedding);
  });

  it('are floats unless asked otherwise', async () => {
    const response = await harness.request('POST', '/embeddings', { model, input: 'x' });
    expect(await response.json()).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
      model,
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  });

  it('take texts and tokens, one or many, in their order', async () => {
    const [[one], [two]] = [await embed('one'), await embed('two')];
    expect(await embed(['one', 'two'])).toEqual([one, two]);
    const [[tokens], many] = [await embed([1, 2, 3]), await embed([[4], [1, 2, 3]])];
    expect(many[1]).toEqual(tokens);
    expect(many[0]).not.toEqual(tokens);
  });

  it('exist for text without letters', async () => {
    const [vector] = await embed('!?');
    expect(product(vector, vector)).toBeCloseTo(1, 5);
  });

  it.each([
    [{}, 'missing_required_parameter', 'input'],
    [{ input: '' }, 'missing_required_parameter', 'input'],
    [{ input: 'x', dimensions: 0 }, 'invalid_value', 'dimensions'],
    [{ input: 'x', encoding_format: 'hex' }, 'invalid_value', 'encoding_format'],
  ])('refuse %j', async (body, code, param) => {
    const response = await harness.request('POST', '/embeddings', { model, ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code, param } });
  });
});
