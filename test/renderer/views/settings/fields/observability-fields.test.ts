import { expect, test } from 'vitest';
import { observabilityFields } from '../../../../../renderer/views/settings/fields/observability-fields.ts';
import type { SettingsChanges } from '../../../../../server/contract/commands.ts';
import { settingsSchema } from '../../../../../server/contract/settings.ts';

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

test('what is shown of metrics, telemetry and webhooks is what is stored', () => {
  const changes: SettingsChanges = {};
  for (const field of observabilityFields) field.write(field.read(settings), changes);
  expect(settingsSchema.parse(changes)).toEqual(settings);
});

test('empty fields switch them off', () => {
  const changes: SettingsChanges = {};
  for (const field of observabilityFields) field.write(field.kind === 'choice' ? 'off' : '', changes);
  expect(changes).toMatchObject({ metrics: 'off', metricsToken: null, webhooks: [] });
  expect(changes.telemetry).toMatchObject({ endpoint: null, headers: {} });
});

test('a line that is no webhook and one that is no header are refused by the engine', () => {
  const write = (name: string, text: string) => {
    const changes: SettingsChanges = {};
    observabilityFields.find((field) => field.name === name)?.write(text, changes);
    return settingsSchema.safeParse(changes);
  };
  expect(write('webhooks', 'https://chat.example everything').error?.issues[0]?.path.slice(0, 3)).toEqual([
    'webhooks',
    0,
    'events',
  ]);
  expect(write('webhooks', 'chat.example budget').error?.issues[0]?.path).toEqual(['webhooks', 0, 'url']);
  expect(write('telemetryHeaders', 'authorization').success).toBe(false);
});
