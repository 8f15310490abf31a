import { expect, test } from 'vitest';
import {
  configMigrations,
  configVersion,
  migrateConfig as migrate,
} from '../../../server/contract/removed-features.ts';

const steps = {
  1: (stored: Record<string, unknown>) => ({ ...stored, list: [stored.single] }),
  2: ({ single: _, ...stored }: Record<string, unknown>) => stored,
};

test('each version is brought to the newest, step by step, and the stored value is not touched', () => {
  const stored = Object.freeze({ version: 1, single: 'a' });
  expect(migrate(stored, steps, 3)).toEqual({ kind: 'ready', value: { version: 3, list: ['a'] } });
  expect(migrate({ version: 2, single: 'a', list: [] }, steps, 3)).toEqual({
    kind: 'ready',
    value: { version: 3, list: [] },
  });
  expect(migrate({ version: 3, x: 1 }, steps, 3)).toEqual({ kind: 'ready', value: { version: 3, x: 1 } });
});

test('a newer version is told apart', () => {
  expect(migrate({ version: 4 }, steps, 3)).toEqual({ kind: 'too-new', version: 4 });
});

test.each([[null], ['text'], [[]], [{}], [{ version: '1' }], [{ version: 1.5 }], [{ version: 0 }]])(
  '%j passes as it is, for the schema to judge',
  (value) => {
    expect(migrate(value, steps, 3)).toEqual({ kind: 'ready', value });
  },
);

test('there is a step from every version so far', () => {
  expect(Object.keys(configMigrations)).toEqual(
    Array.from({ length: configVersion - 1 }, (_, index) => `${index + 1}`),
  );
});
