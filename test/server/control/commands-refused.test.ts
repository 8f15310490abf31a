import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../server/contract/errors.ts';
import { hashOf } from '../../support/gateway.ts';
import { baseUrl, commandGatewayInSuite, secret } from './command-gateway.ts';
import { refusalOf } from './control-gateway.ts';

const { current } = commandGatewayInSuite();

describe('a command is refused, and nothing changes:', () => {
  const own = () => `${current().origin}/v1`;
  const cases: [string, ErrorCode, string | RegExp, () => unknown][] = [
    ['no object', 'invalid_command', 'command', () => 'provider.add'],
    ['an unknown type', 'invalid_command', 'type', () => ({ type: 'provider.explode' })],
    ['an unknown field', 'invalid_command', 'planet', () => ({ type: 'key.revoke', id: 'k1', planet: 1 })],
    ['an old revision', 'conflict', 'someone else', () => ({ type: 'key.revoke', id: 'k1', expectedRevision: 7 })],
    ['a provider without an address', 'invalid_command', 'base URL', () => ({ type: 'provider.add', provider: {} })],
    ['an unknown preset', 'not_found', '"nope"', () => ({ type: 'provider.add', provider: { preset: 'nope' } })],
    ['a provider that is Sluice', 'invalid_command', 'would loop', () => addProvider({ baseUrl: own() })],
    [
      'one by another name',
      'invalid_command',
      'would loop',
      () => addProvider({ baseUrl: own().replace('127.0.0.1', 'localhost') }),
    ],
    [
      'one on the port of the next start',
      'invalid_command',
      'would loop',
      () => addProvider({ baseUrl: 'http://[::1]:4810/v1' }),
    ],
    ['an update that leads back', 'invalid_command', 'would loop', () => updateMain({ baseUrl: own() })],
    [
      'a password in the address',
      'invalid_command',
      'credential',
      () => addProvider({ baseUrl: 'https://u:p@example.com/v1' }),
    ],
    ['a query in the address', 'invalid_command', 'query', () => addProvider({ baseUrl: `${baseUrl}?a=b` })],
    ['a password in the proxy', 'invalid_command', 'proxy', () => updateMain({ proxy: 'http://u:p@proxy:3128' })],
    ['a secret in a header', 'invalid_command', '"X-Api-Key"', () => updateMain({ headers: { 'X-Api-Key': 'a' } })],
    ['the id of the demo', 'conflict', '"demo"', () => ({ ...addProvider({ baseUrl }), id: 'demo' })],
    ['a taken id', 'conflict', '"main"', () => ({ ...addProvider({ baseUrl }), id: 'main' })],
    ['an unknown provider', 'not_found', '"nope"', () => ({ type: 'provider.set-enabled', id: 'nope', enabled: true })],
    [
      'a change of the demo',
      'invalid_command',
      'demo',
      () => ({ type: 'provider.set-enabled', id: 'demo', enabled: false }),
    ],
    ['a provider in use', 'conflict', '"fast"', () => ({ type: 'provider.remove', id: 'spare' })],
    ['an address that is none', 'invalid_command', 'baseUrl', () => updateMain({ baseUrl: 'ftp://example.com' })],
    ['models of an unknown provider', 'not_found', '"nope"', () => ({ type: 'provider.refresh-models', id: 'nope' })],
    ['an empty credential', 'invalid_command', 'secret', () => ({ type: 'credential.set', provider: 'main' })],
    [
      'two secrets at once',
      'invalid_command',
      'not both',
      () => ({ type: 'credential.set', provider: 'main', secret, reference: 'env:A' }),
    ],
    [
      'a secret of two lines',
      'invalid_command',
      'printable',
      () => ({ type: 'credential.set', provider: 'main', secret: `${secret}\n${secret}` }),
    ],
    [
      'a reference to the store',
      'invalid_command',
      'env:NAME',
      () => ({ type: 'credential.set', provider: 'main', reference: 'keychain' }),
    ],
    ['an unknown credential', 'not_found', '"c9"', () => ({ type: 'credential.remove', provider: 'main', id: 'c9' })],
    ['a key of no group', 'not_found', '"nope"', () => ({ type: 'key.create', group: 'nope' })],
    ['a move to no group', 'not_found', '"nope"', () => ({ type: 'key.update', id: 'k1', changes: { group: 'nope' } })],
    ['a taken key id', 'conflict', '"k1"', () => ({ type: 'key.create', id: 'k1' })],
    [
      'a date without zone',
      'invalid_command',
      'expiresAt',
      () => ({ type: 'key.create', expiresAt: '2030-01-01T00:00:00' }),
    ],
    ['an unknown key', 'not_found', '"nope"', () => ({ type: 'key.rotate', id: 'nope' })],
    ['a nameless group', 'invalid_command', 'name', () => ({ type: 'group.put', group: {} })],
    ['a group in use', 'conflict', '"k1"', () => ({ type: 'group.remove', id: 'default' })],
    ['an unknown group', 'not_found', '"nope"', () => ({ type: 'group.remove', id: 'nope' })],
    [
      'an alias to nowhere',
      'not_found',
      '"nope"',
      () => ({ type: 'alias.put', alias: { name: 'a', targets: [{ provider: 'nope', model: 'm' }] } }),
    ],
    [
      'an alias of an unknown key',
      'not_found',
      '"nope"',
      () => ({ type: 'alias.put', key: 'nope', alias: { name: 'a', targets: [{ provider: 'main', model: 'm' }] } }),
    ],
    ['an unknown alias', 'not_found', '"nope"', () => ({ type: 'alias.remove', name: 'nope' })],
    ['an unknown setting', 'invalid_command', 'port', () => ({ type: 'settings.update', changes: { colour: 'red' } })],
    [
      'a host with a scheme',
      'invalid_command',
      'allowedHosts: "http://nas" is not a host name',
      () => ({ type: 'settings.update', changes: { allowedHosts: ['nas', 'http://nas'] } }),
    ],
    [
      'a setting out of range',
      'invalid_command',
      'port',
      () => ({ type: 'settings.update', changes: { port: 70_000 } }),
    ],
    [
      'an import that leads back',
      'invalid_command',
      'would loop',
      () => importOf({ providers: [{ id: 'p', baseUrl: own() }] }),
    ],
    ['an import of the demo', 'invalid_command', 'demo', () => importOf({ providers: [{ id: 'demo', baseUrl }] })],
    [
      'an import without its group',
      'invalid_command',
      'group',
      () => importOf({ keys: [{ id: 'k', group: 'g', hash: hashOf('a') }] }),
    ],
  ];
  const addProvider = (provider: object) => ({ type: 'provider.add', provider });
  const updateMain = (changes: object) => ({ type: 'provider.update', id: 'main', changes });
  const importOf = (config: object) => ({ type: 'config.import', config: { version: 1, ...config } });

  test.each(cases)('%s', async (_name, code, text, command) => {
    const before = [await current().configText(), await current().secrets.list()];
    const error = await refusalOf(current().gateway.execute(command()));
    expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
    expect(`${error.message} ${error.param}`).not.toContain(secret);
    expect([await current().configText(), await current().secrets.list()]).toEqual(before);
    expect((await current().gateway.query({ type: 'status' })).revision).toBe(1);
  });
});
