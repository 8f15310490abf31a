import { expect, test } from 'vitest';
import { settingsParts } from '../../../../renderer/views/settings/settings-fields.ts';
import { settingNames } from '../../../../server/contract/locked-paths.ts';
import { settingsSchema } from '../../../../server/contract/settings.ts';

const fields = Object.values(settingsParts).flat();

test.each(fields.map((field) => field.path ?? field.name))('%s is a setting that a team preset can lock', (path) => {
  expect(settingNames(settingsSchema.parse({}))).toContain(path);
});
