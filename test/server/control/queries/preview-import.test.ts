import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashOf } from '../../../support/gateway.ts';
import { type ControlGateway, refusalOf, startControlGateway } from '../control-gateway.ts';

let sluice: ControlGateway;
beforeAll(async () => {
  sluice = await startControlGateway({
    config: {
      providers: [
        { id: 'main', baseUrl: 'http://127.0.0.1:9/v1', models: ['a'] },
        { id: 'gone', baseUrl: 'http://127.0.0.1:9/v1' },
      ],
      aliases: [{ name: 'fast', targets: [{ provider: 'main', model: 'a' }] }],
    },
  });
});
afterAll(() => sluice.stop());

async function exported() {
  return (await sluice.gateway.query({ type: 'config' })).config;
}

describe('the preview of an import', () => {
  test('finds nothing in what was exported', async () => {
    const preview = await sluice.gateway.query({ type: 'import-preview', config: await exported() });
    expect(preview).toEqual({ revision: 1, changes: [], refusals: [], enteredAnew: [] });
  });

  test('tells what the import would refuse, of each provider', async () => {
    const config = {
      version: 1 as const,
      providers: [
        { id: 'loop', baseUrl: sluice.baseUrl },
        { id: 'fine', baseUrl: 'https://api.example.com/v1' },
        { id: 'open', baseUrl: 'https://api.example.com/v1', headers: { 'x-api-key': 'planted' } },
      ],
    };
    const { refusals } = await sluice.gateway.query({ type: 'import-preview', config });
    expect(refusals).toEqual([
      {
        provider: 'loop',
        problem: { code: 'leads-back', host: new URL(sluice.baseUrl).host },
        message: expect.stringContaining('Sluice itself'),
      },
      {
        provider: 'open',
        problem: { code: 'secret-in-header', header: 'x-api-key' },
        message: expect.stringContaining('in plain text'),
      },
    ]);
    expect(JSON.stringify(refusals)).not.toContain('planted');
    const refused = await refusalOf(sluice.gateway.execute({ type: 'config.import', config }));
    expect(refused.message).toBe(refusals[0]?.message);
  });

  test('tells each change, and makes none', async () => {
    const before = await exported();
    const { changes } = await sluice.gateway.query({
      type: 'import-preview',
      config: {
        version: 1,
        providers: [{ id: 'main', baseUrl: 'http://127.0.0.1:9/v1', models: ['a', 'b'], name: 'Main' }],
        aliases: before.aliases,
        groups: [{ id: 'default' }, { id: 'team' }],
        keys: [{ id: 'other', group: 'team', hash: hashOf('other') }],
        settings: { demo: 'off', limits: { jsonBodyBytes: 1000 } },
      },
    });
    expect(changes).toEqual([
      {
        part: 'provider',
        name: 'main',
        kind: 'changed',
        fields: [
          { name: 'models', before: '["a"]', after: '["a","b"]' },
          { name: 'name', before: null, after: '"Main"' },
        ],
      },
      { part: 'provider', name: 'gone', kind: 'removed', fields: [] },
      { part: 'group', name: 'team', kind: 'added', fields: [] },
      { part: 'key', name: 'k1', kind: 'removed', fields: [] },
      { part: 'key', name: 'other', kind: 'added', fields: [] },
      {
        part: 'setting',
        name: 'demo',
        kind: 'changed',
        fields: [{ name: 'demo', before: '"auto"', after: '"off"' }],
      },
      {
        part: 'setting',
        name: 'limits.jsonBodyBytes',
        kind: 'changed',
        fields: [{ name: 'limits.jsonBodyBytes', before: '67108864', after: '1000' }],
      },
    ]);
    expect(await exported()).toEqual(before);
  });

  test('holds no secret that a header bears', async () => {
    const headers = { authorization: 'Bearer planted-4711' };
    const providers = [{ id: 'new', baseUrl: 'http://u:planted-4711@127.0.0.1:9/v1', headers }];
    const config = { ...(await exported()), providers, aliases: [] };
    const preview = await sluice.gateway.query({ type: 'import-preview', config });
    expect(JSON.stringify(preview)).not.toContain('planted-4711');
  });

  test('refuses what is no configuration', async () => {
    const error = await refusalOf(sluice.gateway.query({ type: 'import-preview', config: { version: 3 } }));
    expect(error).toMatchObject({ code: 'invalid_command', message: expect.stringContaining('config.version') });
  });
});

test('says where the data is', async () => {
  expect(await sluice.gateway.query({ type: 'host' })).toEqual({
    dataFolder: sluice.folder,
    logFolder: null,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
  });
});
