import { IconKey } from '@tabler/icons-react';
import { describe, expect, it } from 'vitest';
import {
  findEntries,
  firstEntries,
  type PaletteEntry,
  type SectionName,
} from '../../../../renderer/shell/palette/palette-entry.ts';

const entry = (section: SectionName, label: string, words = ''): PaletteEntry => ({
  ...{ id: label, section, label, words, Icon: IconKey },
  act: { href: '/' },
});

/** Keys of one person, each with an entry that copies its secret. */
const keyEntries = Array.from({ length: 12 }, (_, index) => [
  { ...entry('keys', `Copy secret of laptop ${index}`, 'copy key'), action: 'Copy secret of' },
  entry('keys', `laptop ${index}`, 'key'),
]).flat();

const entries = [
  entry('screens', 'Providers'),
  entry('screens', 'Settings'),
  entry('screens', '设置', 'Settings'),
  entry('actions', 'Add provider…'),
  entry('providers', 'OpenAI', 'openai'),
  entry('providers', 'Turn off OpenAI', 'openai turn on off'),
  entry('providers', 'Turn off Azure OpenAI, Europe', 'azure-eu'),
  entry('models', 'gpt-5-mini'),
  entry('settings', 'Concurrent requests', 'concurrency parallel'),
  entry('settings', 'Prices', 'cost currency'),
];

const labels = (search: string, recent: string[] = []) =>
  findEntries(entries, search, recent).flatMap((section) => section.entries.map(({ label }) => label));

describe('the palette', () => {
  it('shows what was used last before anything is typed, once, and what every window has', () => {
    const sections = firstEntries(entries, ['OpenAI', 'gone', 'Settings']);
    expect(sections.map(({ name }) => name)).toEqual(['recent', 'screens', 'actions']);
    expect(sections.map((section) => section.entries.map(({ label }) => label))).toEqual([
      ['OpenAI', 'Settings'],
      ['Providers', '设置'],
      ['Add provider…'],
    ]);
  });

  it('finds what has every word, in any order', () => {
    expect(labels('openai off')).toEqual(['Turn off OpenAI', 'Turn off Azure OpenAI, Europe']);
    expect(labels('off groq')).toEqual([]);
  });

  it('puts the whole word first, then its beginning, then what else it is found by', () => {
    expect(labels('openai')).toEqual(['OpenAI', 'Turn off OpenAI', 'Turn off Azure OpenAI, Europe']);
    expect(labels('sett')).toEqual(['Settings', '设置']);
    expect(labels('设')).toEqual(['设置']);
    expect(labels('mini')).toEqual(['gpt-5-mini']);
    expect(labels('currency')).toEqual(['Prices', 'Concurrent requests']);
  });

  it('finds a word by some of its letters, from the first one on', () => {
    expect(labels('prvdr')).toEqual(['Providers', 'Add provider…']);
    expect(labels('vdr')).toEqual([]);
    expect(labels('pv')).toEqual([]);
  });

  it('prefers what was used last among equals, and not to what fits better', () => {
    expect(labels('off', ['Turn off Azure OpenAI, Europe'])[0]).toBe('Turn off Azure OpenAI, Europe');
    expect(labels('openai', ['Turn off Azure OpenAI, Europe'])[0]).toBe('OpenAI');
  });

  it('offers what can be done with a key only to who names that, and after the keys themselves', () => {
    const keyLabels = (search: string) =>
      findEntries(keyEntries, search, []).flatMap((section) => section.entries.map(({ label }) => label));
    expect(keyLabels('laptop')).toEqual(Array.from({ length: 9 }, (_, index) => `laptop ${index}`));
    expect(keyLabels('copy 7')).toEqual(['Copy secret of laptop 7']);
    expect(keyLabels('secr 7 laptop')).toEqual(['Copy secret of laptop 7']);
    expect(keyLabels('key 7')).toEqual(['laptop 7']);
  });
});
