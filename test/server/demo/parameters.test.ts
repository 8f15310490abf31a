import { describe, expect, it } from 'vitest';
import { DemoError } from '../../../server/demo/demo-error.ts';
import { Parameters } from '../../../server/demo/parameters.ts';

const range = { min: 0, max: 10 };

describe('parameters', () => {
  it('read numbers and booleans from text in a form', () => {
    const form = new Parameters({ n: '2', stream: 'true', partial: 'false', list: 'one' }, true);
    expect(form.integer('n', range)).toBe(2);
    expect([form.boolean('stream'), form.boolean('partial'), form.boolean('absent')]).toEqual([true, false, false]);
    expect(form.list('list')).toEqual(['one']);
  });

  it.each([
    ['text for a number in JSON', () => new Parameters({ n: '2' }).integer('n', range)],
    ['text for a boolean in JSON', () => new Parameters({ n: 'true' }).boolean('n')],
    ['one value for a list in JSON', () => new Parameters({ n: 'one' }).list('n')],
    ['a word for a number in a form', () => new Parameters({ n: 'two' }, true).integer('n', range)],
    ['nothing for a number in a form', () => new Parameters({ n: ' ' }, true).integer('n', range)],
    ['a number for text', () => new Parameters({ n: 2 }).string('n')],
    ['a list for an object', () => new Parameters({ n: [] }).object('n')],
    ['text for a file', () => new Parameters({ n: 'x' }, true).files('n')],
  ])('refuse %s', (_, read) => {
    expect(read).toThrow(DemoError);
    expect(read).toThrow(/^Invalid type for 'n': expected an? /);
  });

  it('take null for absent', () => {
    const parameters = new Parameters({ n: null });
    expect([parameters.string('n'), parameters.integer('n', range), parameters.object('n')]).toEqual(
      Array(3).fill(undefined),
    );
    expect(() => parameters.requiredString('n')).toThrow("Missing required parameter: 'n'.");
  });
});
