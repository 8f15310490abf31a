import { expect, it } from 'vitest';
import { createGoKeys } from '../../../../renderer/state/window/go-keys.ts';
import { places } from '../../../../server/contract/places.ts';

const press = (key: string, changes: Partial<KeyboardEvent> = {}) => ({
  ...{ key, keyCode: 0, isComposing: false, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false },
  ...changes,
});

it.each(places.map(({ id, letter }) => [letter, id] as const))('G and %s open %s, once', (letter, id) => {
  const keys = createGoKeys(() => 0);
  expect(keys(press('g'))).toBe('begun');
  expect(keys(press(letter))).toMatchObject({ id });
  expect(keys(press(letter))).toBe(null);
});

it('a letter alone, after another key, after a pause, or with a modifier opens nothing', () => {
  let nowMs = 0;
  const keys = createGoKeys(() => nowMs);
  expect(keys(press('t'))).toBe(null);
  keys(press('g'));
  expect(keys(press('x'))).toBe(null);
  expect(keys(press('t'))).toBe(null);
  keys(press('g'));
  nowMs += 1_501;
  expect(keys(press('t'))).toBe(null);
  for (const modifier of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { shiftKey: true }]) {
    keys(press('g'));
    expect(keys(press('t', modifier))).toBe(null);
    expect(keys(press('g', modifier))).toBe(null);
  }
  keys(press('g'));
  expect(keys(press('t', { isComposing: true }))).toBe(null);
});

it('G twice still waits for a letter', () => {
  const keys = createGoKeys(() => 0);
  keys(press('g'));
  expect(keys(press('g'))).toBe('begun');
  expect(keys(press('a'))).toMatchObject({ id: 'access' });
});
