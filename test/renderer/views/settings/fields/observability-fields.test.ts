import { expect, test } from 'vitest';
import {
  fieldOf,
  type SettingsField,
  withField,
} from '../../../../../renderer/views/settings/fields/settings-field.ts';
import type { SettingsChanges } from '../../../../../server/contract/commands.ts';
import { settingsSchema } from '../../../../../server/contract/settings.ts';
import { fieldPathsIn } from '../../../../../server/contract/settings-table.ts';

const settings = settingsSchema.parse({
  metrics: 'on',
  metricsToken: 'env:SCRAPE',
  telemetry: {
    endpoint: 'http://127.0.0.1:4318',
    headers: { authorization: 'env:OTLP', 'x-version': '4' },
    protocol: 'http/json',
    metrics: false,
  },
  webhooks: [
    { url: 'https://chat.example/hook?a=b' },
    { url: 'env:HOOK', events: ['budget', 'provider-up'], secret: 'file:/a path/secret' },
    { url: 'https://chat.example/two', secret: 'env:KEY' },
  ],
});
const fields = fieldPathsIn('observability').map(fieldOf);

const written = (textOf: (field: SettingsField) => string) =>
  fields.reduce<SettingsChanges>((changes, field) => withField(changes, field, textOf(field)), {});

test('what is shown of metrics, telemetry and webhooks is what is stored', () => {
  expect(settingsSchema.parse(written(({ read }) => read(settings)))).toEqual(settings);
});

test('empty fields switch them off', () => {
  const changes = written(({ shape }) => (shape.kind === 'choice' || shape.kind === 'switch' ? 'off' : ''));
  expect(changes).toMatchObject({ metrics: 'off', metricsToken: null, webhooks: [] });
  expect(changes.telemetry).toMatchObject({ endpoint: null, headers: {}, traces: false, metrics: false });
});

test('a line that is no webhook and one that is no header are refused by the engine', () => {
  const write = (path: 'webhooks' | 'telemetry.headers', text: string) =>
    settingsSchema.safeParse(withField({}, fieldOf(path), text));
  expect(write('webhooks', 'https://chat.example everything').error?.issues[0]?.path.slice(0, 3)).toEqual([
    'webhooks',
    0,
    'events',
  ]);
  expect(write('webhooks', 'chat.example budget').error?.issues[0]?.path).toEqual(['webhooks', 0, 'url']);
  expect(write('telemetry.headers', 'authorization').success).toBe(false);
});
