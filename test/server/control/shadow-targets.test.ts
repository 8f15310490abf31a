import { afterEach, expect, test } from 'vitest';
import { mainProvider } from '../../support/gateway.ts';
import { type ControlGateway, startControlGateway } from './control-gateway.ts';

let sluice: ControlGateway;

afterEach(() => sluice.stop());

test('a provider or alias that is removed is no shadow target any more', async () => {
  const two = { id: 'two', baseUrl: 'http://127.0.0.1:9/v1', models: ['cheap'] };
  const shadow = { target: 'two/cheap', share: 1, dailyUsd: 1 };
  sluice = await startControlGateway({
    config: {
      providers: [mainProvider('http://127.0.0.1:9/v1', { credentials: [] }), two],
      aliases: [{ name: 'small', targets: [{ provider: 'main', model: 'gpt-x' }] }],
      groups: [{ id: 'default', shadow }],
    },
  });
  const { execute, query } = sluice.gateway;
  const stored = async () => (await query({ type: 'groups' }))[0]?.shadow;
  expect(await stored()).toEqual(shadow);
  await execute({ type: 'provider.remove', id: 'two' });
  expect(await stored()).toBeNull();
  const group = { id: 'default', shadow: { ...shadow, target: 'small' } };
  await execute({ type: 'group.put', group });
  await execute({ type: 'alias.remove', name: 'small' });
  expect(await stored()).toBeNull();
  await expect(execute({ type: 'group.put', group })).rejects.toThrow('there is no alias "small"');
});
