import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readTeamPreset } from '../../../server/config/read-team-preset.ts';
import { acmePreset } from '../control/team-preset-file.ts';

const read = (preset: unknown) => readTeamPreset(JSON.stringify(preset), 'team.json').preset;
const [provider] = acmePreset.providers;
const withProvider = (changes: object) => ({ ...acmePreset, providers: [{ ...provider, ...changes }] });
const target = { provider: 'acme', model: 'm' };

describe('a team preset', () => {
  test('is taken as it was written, without defaults', () => {
    expect(read(acmePreset)).toEqual(acmePreset);
  });

  test('is told from an exported configuration', () => {
    expect(() => read({ version: 1, providers: [] })).toThrow(
      /^The team preset team\.json cannot be used: .*teamPreset/,
    );
  });

  test.each([
    ['a key in a name', { ...acmePreset, name: 'sk-proj-planted1234567890' }],
    ['a key in a label', withProvider({ credentials: [{ id: 'own', label: 'sk-ant-planted-1234567890' }] })],
    ['a key in an address', withProvider({ baseUrl: 'https://api.example/gsk_planted1234567890abc/v1' })],
    ['a password in an address', withProvider({ baseUrl: 'https://user:planted@api.example/v1' })],
    ['a query in an address', withProvider({ baseUrl: 'https://api.example/v1?key=planted' })],
    ['a password in a proxy', withProvider({ proxy: 'http://user:planted@proxy.example:3128' })],
    ['a secret’s header', withProvider({ headers: { 'X-Api-Key': 'planted' } })],
    ['authorization', withProvider({ headers: { Authorization: 'Bearer planted' } })],
    ['a long random header', withProvider({ headers: { 'X-Team': 'planted0123456789ABCDEFGHIJKLMNOPQRSTUVWX' } })],
    ['a secret in a secret’s place', withProvider({ credentials: [{ id: 'own', secret: 'planted' }] })],
    ['a path of a secret', withProvider({ credentials: [{ id: 'own', secret: 'file:/home/planted' }] })],
    [
      'a token in an alias',
      { ...acmePreset, aliases: [{ name: 'eyJplanted12345.eyJplanted12345', targets: [target] }] },
    ],
    ['keys of clients', { ...acmePreset, keys: [{ id: 'k', group: 'default', secret: 'env:PLANTED' }] }],
  ])('with %s is refused, and the text is not repeated', (_what, preset) => {
    const attempt = () => read(preset);
    expect(attempt).toThrow(/cannot be used/);
    expect(attempt).not.toThrow(/planted/i);
  });

  test('may say where an administrator puts a credential', () => {
    const preset = withProvider({ credentials: [{ id: 'own', secret: 'env:ACME_KEY' }] });
    expect(read(preset)).toEqual(preset);
  });

  test.each([
    [['groups/default/models']],
    [['providers', 'aliases', 'groups', 'settings']],
    [['aliases/team/fast', 'settings/ledger', 'settings/ledger.retentionDays', 'providers/acme/baseUrl']],
  ])('may lock %j', (locked) => {
    expect(read({ ...acmePreset, locked })).toMatchObject({ locked });
  });

  test.each([
    ...['keys', 'groups/other', 'groups/default/deny', 'settings/host', 'aliases/slow'],
    'providers/acme/credentials',
  ])('that says nothing of it cannot lock %s', (path) => {
    expect(() => read({ ...acmePreset, locked: [path] })).toThrow(/locked/);
  });

  test('with the same name twice is refused', () => {
    expect(() => read({ ...acmePreset, groups: [{ id: 'default' }, { id: 'default' }] })).toThrow(/there twice/);
  });

  test('is described by the published JSON Schema', () => {
    const path = join(import.meta.dirname, '../../../docs/team-preset.schema.json');
    const schema = z.fromJSONSchema(JSON.parse(readFileSync(path, 'utf8')));
    expect(schema.safeParse({ ...acmePreset, locked: ['providers'], updates: 'on' }).success).toBe(true);
    expect(schema.safeParse({ ...acmePreset, locked: ['keys'] }).success).toBe(false);
    expect(schema.safeParse({ ...acmePreset, keys: [] }).success).toBe(false);
  });
});
