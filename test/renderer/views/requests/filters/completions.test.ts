import { expect, test } from 'vitest';
import {
  completionsOf,
  FilterValues,
  openFieldIn,
} from '../../../../../renderer/views/requests/filters/completions.ts';
import { filterFields } from '../../../../../server/contract/request-filter.ts';

const labels = Object.fromEntries(filterFields.map((field) => [field, `the ${field}`])) as ConstructorParameters<
  typeof FilterValues
>[1];
const options = (...names: string[]) => names.map((value) => ({ value, label: value }));
const values = new FilterValues(
  { model: options('gpt-5', 'gpt-5-mini', 'sora 2'), key: [{ value: 'k1', label: 'Continuous' }] },
  labels,
);
const written = (text: string) => completionsOf(text, values).map((each) => each.written);

test.each([
  ['', []],
  ['c', ['client:', 'capability:', 'cost:']],
  ['gate co', ['cost:']],
  ['gate ', []],
  ['xyz', []],
  ['model:', ['model:gpt-5', 'model:gpt-5-mini', 'model:"sora 2"']],
  ['gate model:MINI', ['model:gpt-5-mini']],
  ['model:"so', ['model:"sora 2"']],
  ['key:cont', ['key:k1']],
  ['cost:>', []],
  ['model:gpt-5 ', []],
  ['http:', []],
])('after %j may come %j', (text, expected) => {
  expect(written(text)).toEqual(expected);
});

test('a completion replaces what it completes', () => {
  const [first] = completionsOf('gate key:cont', values);
  expect(first).toMatchObject({ written: 'key:k1', isWhole: true, label: 'Continuous', replaces: 'key:cont'.length });
  expect(completionsOf('gate cos', values)).toMatchObject([{ replaces: 3, label: 'the cost', example: '>0.05' }]);
});

test('what a person calls something is taken for its id', () => {
  expect(values.named({ field: 'key', value: 'continuous' })).toEqual({ field: 'key', value: 'k1' });
  expect(values.named({ field: 'key', value: 'k1' })).toEqual({ field: 'key', value: 'k1' });
  expect(values.named({ field: 'key', value: 'other' })).toEqual({ field: 'key', value: 'other' });
});

test.each([
  ['gate model:gp', 'model:gp'],
  ['gate model:', 'model:'],
  ['model:gpt-5 ', null],
  ['https://example.com', null],
])('%j ends with the condition %j', (text, open) => {
  expect(openFieldIn(text)).toBe(open);
});
