import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fieldsOf } from '../../../build/config-reference.ts';
import { firstRunConfig } from '../../../server/config/config-store.ts';
import { configSchema } from '../../../server/contract/config.ts';
import { plainEnvironment } from '../../support/program.ts';
import { exampleConfig } from './config-folder.ts';

const root = join(import.meta.dirname, '../../..');
const published = readFileSync(join(root, 'docs/config.schema.json'), 'utf8');

const files = [
  'docs/config.schema.json',
  'docs/team-preset.schema.json',
  'docs/cassette.schema.json',
  'docs/cassette-settings.schema.json',
  'docs/configuration-reference.md',
  'server/contract/setting-shapes.ts',
];
test.each(files)('%s is up to date (node build/config-schema.ts)', (path) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-schema-'));
  try {
    execFileSync(process.execPath, [join(root, 'build/config-schema.ts'), folder], { env: plainEnvironment });
    expect(readFileSync(join(root, path), 'utf8')).toBe(readFileSync(join(folder, basename(path)), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a misspelled member of a price is refused, instead of leaving the cost unknown', () => {
  const settings = (price: object) => ({ version: 2, settings: { prices: { 'gpt-x': price } } });
  expect(configSchema.safeParse(settings({ input: 1, output: 2, maxOutput: 5 })).success).toBe(true);
  const { success, error } = configSchema.safeParse(settings({ inptu: 1, output: 2 }));
  expect(success).toBe(false);
  expect(error?.message).toContain('inptu');
});

test('every field of the configuration is described', () => {
  const undescribed = fieldsOf(JSON.parse(published)).filter(({ schema }) => schema.description === undefined);
  expect(undescribed.map(({ path }) => path)).toEqual([]);
});

describe('the published JSON Schema', () => {
  const schema = z.fromJSONSchema(JSON.parse(published));

  test('takes the documented example, an empty configuration and one with all defaults, as the program does', () => {
    for (const config of [exampleConfig, { version: 2 }, firstRunConfig()]) {
      expect(schema.safeParse(config).success).toBe(true);
      expect(configSchema.safeParse(config).success).toBe(true);
    }
  });

  test('refuses unknown fields and wrong types, as the program does', () => {
    for (const config of [
      { version: 1, x: 1 },
      { version: 1, groups: [{ id: 'A B' }] },
      { version: 3 },
      { keys: [] },
    ]) {
      expect(schema.safeParse(config).success).toBe(false);
      expect(configSchema.safeParse(config).success).toBe(false);
    }
  });
});
