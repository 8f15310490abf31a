/**
 * No example names a model that is retired, by the day of the public table and not by the clock. Where a route has no
 * living model, the example says so and is listed here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import publicTable from '../server/models/public-prices.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');

/** What people read and copy: documents, presets, the examples of commands and the texts of the window. */
const shown = ['README.md', ...filesIn('docs', /\.md$/), ...filesIn('server/providers', /\.ts$/)]
  .concat(filesIn('server/cli', /\.ts$/), filesIn('server/contract/clients', /\.ts$/))
  .concat(filesIn('renderer/messages', /\.ts$/), filesIn('renderer/views', /\.tsx?$/));

function filesIn(folder: string, named: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => named.test(name))
    .map((name) => `${folder}/${name}`);
}

/** Services that make models or are the only ones to sell them under these names. */
const services = new Set(['openai', 'anthropic', 'gemini', 'mistral', 'xai', 'deepseek', 'groq', 'cerebras']);

const retired = new Map<string, string>();
for (const line of readFileSync(join(root, 'test/fixtures/models/names.txt'), 'utf8').split('\n')) {
  const [name = '', service = '', , day] = line.split(' ');
  if (day !== undefined && services.has(service) && day <= publicTable.date) {
    retired.set(name.slice(name.lastIndexOf('/') + 1), day);
  }
}

/** The files that may name such a model, and why. */
const permitted: Record<string, string> = {};

test('the table tells which models are retired', () => {
  expect(retired.size).toBeGreaterThan(30);
  expect(retired.get('sora-2')).toBe('2026-09-24');
  expect(retired.get('gpt-image-1')).toBe('2026-10-23');
});

test('no example names a retired model', () => {
  const found = shown.flatMap((path) => {
    const words = new Set(
      readFileSync(join(root, path), 'utf8')
        .split(/[^\w.@-]+/)
        .map((word) => word.replace(/\.$/, '')),
    );
    return [...words].filter((word) => retired.has(word)).map((word) => `${path}: ${word}, since ${retired.get(word)}`);
  });
  expect(found.filter((each) => !Object.hasOwn(permitted, each.split(',')[0] ?? ''))).toEqual([]);
});
