import { describe, expect, it, test } from 'vitest';
import {
  fieldOf,
  firstInvalidLine,
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

describe('a line of a setting', () => {
  it.each([
    ['allowedHosts', 'gateway.local\n  nas\n[fe80::1]\n*'],
    ['allowedOrigins', 'https://app.example\nhttp://localhost:3000\nchrome-extension://abc\napp://obsidian.md\nnull'],
    ['noProxy', 'localhost, .corp.example'.replace(' ', '')],
    ['noProxy', '*.corp.example\n10.0.0.0/8\nhost:8080\n[::1]'],
    ['extraCaFiles', 'anything at all'],
  ])('of %s can be %j', (name, text) => {
    expect(firstInvalidLine(name, text)).toBeNull();
  });

  it.each([
    ['allowedHosts', 'nas\nhttp://nas', 'http://nas'],
    ['allowedHosts', 'nas:4810', 'nas:4810'],
    ['allowedOrigins', 'https://app.example/', 'https://app.example/'],
    ['allowedOrigins', '*', '*'],
    ['noProxy', 'http://corp.example', 'http://corp.example'],
    ['noProxy', 'one two', 'one two'],
  ])('of %s cannot be %j', (name, text, wrong) => {
    expect(firstInvalidLine(name, text)).toBe(wrong);
  });

  it.each([
    ['metricsToken', ['env:SCRAPE', 'file:/a path/token'], ['plain', 'env:']],
    [
      'telemetry.endpoint',
      ['http://127.0.0.1:4318'],
      ['nowhere', 'ftp://a', 'http://u:p@a', 'http://a?b', 'http://a#b'],
    ],
    [
      'telemetry.headers',
      ['x-version: 4', 'authorization: env:OTLP'],
      ['broken line', 'authorization: Basic abc', 'x:'],
    ],
    [
      'webhooks',
      ['https://chat.example/hook', 'env:HOOK budget,provider-up file:/a path/secret', 'https://a env:KEY'],
      ['nowhere', 'https://a everything', 'https://u:p@a'],
    ],
  ] as const)('of %s is judged as the engine does', (name, right, wrong) => {
    const isTaken = (line: string) => settingsSchema.safeParse(withField({}, fieldOf(name), line)).success;
    expect([...right, ...wrong].map(isTaken)).toEqual([...right.map(() => true), ...wrong.map(() => false)]);
    expect(right.map((line) => firstInvalidLine(name, line))).toEqual(right.map(() => null));
    expect(wrong.map((line) => firstInvalidLine(name, line))).toEqual(wrong);
  });
});
