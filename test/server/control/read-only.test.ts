import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOf } from '../../support/gateway.ts';
import { type ControlGateway, gatherEvents, refusalOf, startControlGateway } from './control-gateway.ts';

let sluice: ControlGateway;
beforeAll(async () => {
  sluice = await startControlGateway({
    declarative: true,
    config: {
      providers: [
        {
          id: 'main',
          baseUrl: 'https://user:sk-planted-1@api.example.com/v1',
          credentials: [{ id: 'c1', secret: 'env:MAIN_KEY' }],
          headers: { 'X-Api-Key': 'sk-planted-2', 'X-Team': 'a' },
          proxy: 'http://user:sk-planted-3@proxy.example.com:3128',
          models: ['gpt-x'],
        },
      ],
      keys: [
        { id: 'k1', group: 'default', secret: 'env:LOCAL_KEY' },
        { id: 'k2', group: 'default', hash: hashOf('b') },
      ],
    },
    ports: { env: { MAIN_KEY: 'sk-planted-4', LOCAL_KEY: 'any text will do' } },
  });
});
afterAll(() => sluice.stop());

const commands = [
  { type: 'provider.add', provider: { baseUrl: 'https://api.example.com/v1' }, credentials: [{ secret: 'sk-new' }] },
  { type: 'provider.set-enabled', id: 'main', enabled: false },
  { type: 'credential.set', provider: 'main', secret: 'sk-new' },
  { type: 'key.create' },
  { type: 'key.rotate', id: 'k2' },
  { type: 'group.put', group: { id: 'new' } },
  { type: 'settings.update', changes: { demo: 'on' } },
  { type: 'config.import', config: { version: 1 } },
];
test.each(commands)('$type is refused where the configuration is a file', async (command) => {
  const before = await sluice.configText();
  const error = await refusalOf(sluice.gateway.execute(command));
  expect(error).toMatchObject({ code: 'read_only', message: expect.stringContaining('file') });
  expect(await sluice.configText()).toBe(before);
  expect(await sluice.secrets.list()).toEqual([]);
});

test('questions are answered there, and a key in the environment can be shown', async () => {
  expect(await sluice.gateway.query({ type: 'status' })).toMatchObject({ readOnly: true });
  expect(await sluice.gateway.query({ type: 'models', key: 'k1' })).toMatchObject([{ id: 'gpt-x' }]);
  expect(await sluice.gateway.execute({ type: 'key.reveal', id: 'k1' })).toEqual({ secret: 'any text will do' });
});

test('secrets that somebody wrote into the file are shown nowhere', async () => {
  const events = gatherEvents(sluice.gateway);
  const told = [
    await events.next('snapshot'),
    await sluice.gateway.query({ type: 'providers' }),
    await sluice.gateway.query({ type: 'config' }),
  ];
  events.stop();
  for (const each of told) expect(JSON.stringify(each)).not.toContain('planted');
  expect(told[1]).toMatchObject([
    {
      baseUrl: 'https://api.example.com/v1',
      proxy: 'http://proxy.example.com:3128/',
      headers: { 'X-Team': 'a' },
      credentials: [{ reference: 'env:MAIN_KEY', hasSecret: true }],
    },
  ]);
});
