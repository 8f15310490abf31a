import { expect, test } from 'vitest';
import { configSchema } from '../server/contract/config.ts';
test('an empty configuration is complete', () => {
  expect(configSchema.parse({ version: 1 }).settings.port).toBe(4810);
});
