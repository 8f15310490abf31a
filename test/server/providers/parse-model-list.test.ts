import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseModelList } from '../../../server/providers/list-models.ts';

function names(value: unknown): string[] | null {
  const models = parseModelList(Buffer.from(JSON.stringify(value)), 'p');
  return models && [...models.keys()];
}

describe('a model list', () => {
  test.each<[string, unknown]>([
    ['of OpenAI', { object: 'list', data: [{ id: 'a' }, { id: 'b' }] }],
    ['of Ollama’s own API', { models: [{ name: 'a' }, { name: 'b' }] }],
    ['of Gemini’s own API', { models: [{ name: 'models/a' }, { name: 'models/b' }] }],
    ['of Gemini’s OpenAI endpoint', { object: 'list', data: [{ id: 'models/a' }, { id: 'models/b' }] }],
    ['of Together, a bare array', [{ id: 'a', object: 'model' }, { id: 'b' }]],
    ['of llama.cpp, both ways in one', { models: [{ name: 'x' }], data: [{ id: 'a' }, { id: 'b' }] }],
    ['of plain names', ['a', 'b']],
    ['with the same name twice', { data: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] }],
    [
      'with entries that name nothing',
      { data: [null, {}, { id: 5 }, { id: '' }, { id: 'x'.repeat(257) }, { id: 'a' }, 7, { id: 'b' }] },
    ],
  ])('%s is read', (_what, value) => {
    expect(names(value)).toEqual(['a', 'b']);
  });

  test.each([{ data: [] }, { object: 'list', data: null }, { data: null }, { models: null }, { models: [] }, []])(
    'that is empty is a list all the same: %j',
    (value) => expect(names(value)).toEqual([]),
  );

  test.each([
    { data: null, error: { message: 'no' } },
    { models: null, error: 'no' },
  ])('is not seen in the error %j', (value) => {
    expect(names(value)).toBeNull();
  });

  test('holds no model that is no longer served, of Groq or Mistral', () => {
    const data = [
      { id: 'a', active: true },
      { id: 'x', active: false },
      { id: 'b', archived: false, active: 'yes' },
      { id: 'y', archived: true },
    ];
    expect(names({ data })).toEqual(['a', 'b']);
  });

  test.each([{}, { data: 'x' }, { error: { message: 'no' } }, 'x', 5, null])('is not seen in %j', (value) => {
    expect(names(value)).toBeNull();
  });

  test('is not seen in what is no JSON', () => {
    expect(parseModelList(Buffer.from('<html>'), 'p')).toBeNull();
  });

  test.each([
    [{ context_length: 8 }, 8],
    [{ context_window: 8 }, 8],
    [{ max_context_length: 8 }, 8],
    [{ max_model_len: 8 }, 8],
    [{ context_length: null, context_window: 'many' }, undefined],
    [{}, undefined],
  ])('tells how much a model takes by %j', (more, wanted) => {
    const models = parseModelList(Buffer.from(JSON.stringify({ data: [{ id: 'a', ...more }] })), 'p');
    expect(models?.get('a')?.contextTokens).toBe(wanted);
  });

  test('tells time and owner where they make sense', () => {
    const list = {
      data: [
        { id: 'a', created: 1_700_000_000, owned_by: 'openai' },
        { id: 'b', created: 'soon', owned_by: {} },
      ],
    };
    expect(parseModelList(Buffer.from(JSON.stringify(list)), 'p')).toEqual(
      new Map([
        ['a', { created: 1_700_000_000, ownedBy: 'openai' }],
        ['b', { created: 0, ownedBy: 'p' }],
      ]),
    );
  });

  test('of any JSON is read without a fault', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('data', 'models', 'x'), (value, name) => {
        for (const list of [value, { [name]: value }, { [name]: [value] }]) {
          for (const id of names(list) ?? []) expect(id.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});
