/** Who administers from afar names no file, folder or variable of the host but those that the host lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandInput } from '../../../../server/contract/commands.ts';
import type { ConfigInput } from '../../../../server/contract/config.ts';
import { type ControlGateway, startControlGateway } from '../../control/control-gateway.ts';
import { admin, signedIn, withSignIn } from './planted-team.ts';

const by = signedIn(admin);
const people = {
  issuer: 'https://login.example',
  clientId: 'sluice',
  clientSecret: 'env:CLIENT_SECRET',
  roles: [{ claim: 'admins', role: 'admin' as const }],
  hostReferences: ['env:TEAM_*', 'file:/run/listed/*', 'folder:/srv/listed/*'],
};
const config: Partial<ConfigInput> = {
  settings: {
    people,
    telemetry: { endpoint: 'https://collector.example', headers: { authorization: 'env:COLLECTOR' } },
    webhooks: [{ url: 'https://hooks.example', secret: 'file:/etc/hook' }],
  },
  providers: [
    {
      id: 'main',
      baseUrl: 'https://main.example/v1',
      credentials: [{ id: 'c1', secret: 'file:/etc/main' }],
      models: ['m'],
    },
  ],
  groups: [{ id: 'default', cassette: { mode: 'replay', folder: '/srv/own' } }],
};

let sluice: ControlGateway;
beforeAll(async () => {
  sluice = await startControlGateway({ ports: { ...withSignIn, env: { HOST_SECRET: 'h', TEAM_SECRET: 't' } }, config });
});
afterAll(() => sluice.stop());

const addProvider = (credential: object): CommandInput => ({
  type: 'provider.add',
  provider: { baseUrl: 'https://new.example/v1', models: ['m'] },
  credentials: [credential as { secret: string }],
});
const setting = (settings: object): CommandInput => ({ type: 'settings.update', changes: settings }) as CommandInput;
const cassette = (folder: string) => ({ mode: 'record' as const, folder });

/** Every place that names something of the host. `reference` has the kind that the place takes. */
const places: Record<
  string,
  { kind: 'secret' | 'variable' | 'file' | 'folder'; command(named: string): CommandInput }
> = {
  'a credential of a new provider': { kind: 'secret', command: (reference) => addProvider({ reference }) },
  'a variable that is copied': { kind: 'variable', command: (variable) => addProvider({ variable }) },
  'a new credential': {
    kind: 'secret',
    command: (reference) => ({ type: 'credential.set', provider: 'main', reference }),
  },
  'a known credential': {
    kind: 'secret',
    command: (reference) => ({ type: 'credential.set', provider: 'main', id: 'c1', reference }),
  },
  'a header of telemetry': {
    kind: 'secret',
    command: (reference) => setting({ telemetry: { headers: { x: reference } } }),
  },
  'the address of a webhook': { kind: 'secret', command: (url) => setting({ webhooks: [{ url }] }) },
  'the secret of a webhook': {
    kind: 'secret',
    command: (secret) => setting({ webhooks: [{ url: 'https://hooks.example', secret }] }),
  },
  'the token of metrics': { kind: 'secret', command: (metricsToken) => setting({ metricsToken }) },
  'the secret of the sign-in': {
    kind: 'secret',
    command: (clientSecret) => setting({ people: { ...people, clientSecret } }),
  },
  'certificate authorities': { kind: 'file', command: (path) => setting({ extraCaFiles: [path] }) },
  'the cassette of a group': {
    kind: 'folder',
    command: (folder) => ({ type: 'group.put', group: { id: 'default', cassette: cassette(folder) } }),
  },
  'the cassette of a new group': {
    kind: 'folder',
    command: (folder) => ({ type: 'group.put', group: { id: 'new', cassette: cassette(folder) } }),
  },
  'the cassette of a new key': {
    kind: 'folder',
    command: (folder) => ({ type: 'key.create', group: 'default', name: 'k', cassette: cassette(folder) }),
  },
  'the cassette of a key': {
    kind: 'folder',
    command: (folder) => ({ type: 'key.update', id: 'k1', changes: { cassette: cassette(folder) } }),
  },
};

const foreign = {
  secret: [
    'env:HOST_SECRET',
    'file:/etc/passwd',
    'file:/run/listed/../../etc/passwd',
    'file:~/.ssh/id_ed25519',
    'env:team_SECRET',
  ],
  variable: ['HOST_SECRET'],
  file: ['/etc/passwd', '/run/listed/../other'],
  folder: ['/srv/other', '/srv/listed/../other'],
};
const listed = {
  secret: 'env:TEAM_SECRET',
  variable: 'TEAM_SECRET',
  file: '/run/listed/ca.pem',
  folder: '/srv/listed/a',
};

const current = () => sluice.gateway.query({ type: 'config' });
const refused = { code: 'forbidden', message: expect.stringContaining('people.hostReferences') };

describe.each(Object.entries(places))('%s', (_place, { kind, command }) => {
  test.each(foreign[kind])('may not be %s, which the host does not list', async (named) => {
    const before = await current();
    await expect(sluice.gateway.execute(command(named), by)).rejects.toMatchObject(refused);
    expect(await current()).toEqual(before);
  });

  test('may be what the host lists', async () => {
    const outcome = await sluice.gateway.execute(command(listed[kind]), by).catch((error: unknown) => error);
    expect(outcome).not.toMatchObject({ code: 'forbidden' });
  });
});

describe('what the host has named itself', () => {
  let own: ControlGateway;
  beforeAll(async () => {
    own = await startControlGateway({ ports: withSignIn, config });
  });
  afterAll(() => own.stop());

  test.each<[string, CommandInput]>([
    ['a credential', { type: 'provider.update', id: 'main', changes: { baseUrl: 'https://evil.example/v1' } }],
    ['a credential by a proxy', { type: 'provider.update', id: 'main', changes: { proxy: 'http://evil.example' } }],
    ['a header', setting({ telemetry: { endpoint: 'https://evil.example' } })],
    ['a signature', setting({ webhooks: [{ url: 'https://evil.example', secret: 'file:/etc/hook' }] })],
    ['the secret of the sign-in', setting({ people: { ...people, issuer: 'https://evil.example' } })],
  ])('is not sent to another address: %s', async (_what, command) => {
    await expect(own.gateway.execute(command, by)).rejects.toMatchObject(refused);
  });

  test('stays usable by what has nothing to do with it, and by the machine itself', async () => {
    await own.gateway.execute(
      { type: 'provider.update', id: 'main', changes: { name: 'Main', models: ['m', 'n'] } },
      by,
    );
    await own.gateway.execute({ type: 'group.put', group: { id: 'default', cassette: null } }, by);
    await own.gateway.execute(setting({ webhooks: [] }), by);
    await own.gateway.execute({
      type: 'provider.update',
      id: 'main',
      changes: { baseUrl: 'https://other.example/v1' },
    });
  });

  test('is listed by the machine alone', async () => {
    const wider = setting({ people: { ...people, hostReferences: [...people.hostReferences, 'file:*'] } });
    await expect(own.gateway.execute(wider, by)).rejects.toMatchObject(refused);
    await own.gateway.execute(setting({ people: { ...people, hostReferences: ['env:TEAM_*'] } }), by);
    await own.gateway.execute(wider);
  });
});
