import { expect, test } from 'vitest';
import type { SettingsField } from '../../../../../renderer/views/settings/fields/settings-field.ts';
import { settingsParts } from '../../../../../renderer/views/settings/fields/settings-fields.ts';
import type { SettingsChanges } from '../../../../../server/contract/commands.ts';
import { isObject } from '../../../../../server/contract/is-object.ts';
import { settingNames } from '../../../../../server/contract/locked-paths.ts';
import { settingsSchema } from '../../../../../server/contract/settings.ts';

const fields = Object.values(settingsParts).flat();

test.each(fields.map((field) => field.path ?? field.name))('%s is a setting that a team preset can lock', (path) => {
  expect(settingNames(settingsSchema.parse({}))).toContain(path);
});

const choices = fields.flatMap((field) =>
  field.kind === 'choice' ? field.values.map((value): [SettingsField, string] => [field, value]) : [],
);

test.each(choices)('$name is written as it is chosen: %s', (field, value) => {
  const changes: SettingsChanges = {};
  field.write(value, changes);
  const defaults: Record<string, unknown> = settingsSchema.parse({});
  const written = Object.entries(changes).map(([name, change]) => [name, withChange(defaults[name], change)]);
  expect(field.read(settingsSchema.parse(Object.fromEntries(written)))).toBe(value);
});

const withChange = (before: unknown, change: unknown) =>
  isObject(before) && isObject(change) ? { ...before, ...change } : change;
