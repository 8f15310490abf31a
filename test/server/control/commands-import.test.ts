import { describe, expect, test } from 'vitest';
import { hashOf } from '../../support/gateway.ts';
import { baseUrl, commandGatewayInSuite } from './command-gateway.ts';

const { current, run, stored } = commandGatewayInSuite();

describe('an import', () => {
  test('of an export changes nothing, and the secrets stay', async () => {
    await run({ type: 'key.create', name: 'a' });
    const before = await stored();
    const { config } = await current().gateway.query({ type: 'config' });
    expect(await run({ type: 'config.import', config })).toEqual({ revision: 3, missingSecrets: [] });
    expect(await stored()).toEqual(before);
    expect(await current().secrets.list()).toEqual(['key/a', 'provider/main/c1']);
  });

  test('deletes the secrets of what it drops and names those it lacks', async () => {
    const { secret: made } = await current().gateway.execute({ type: 'key.create', name: 'a' });
    const config = {
      version: 1 as const,
      providers: [{ id: 'other', baseUrl, models: ['m'], credentials: [{ id: 'x' }] }],
      groups: [{ id: 'default' }],
      keys: [{ id: 'b', group: 'default', hash: hashOf(made), secret: 'keychain' }],
    };
    expect(await run({ type: 'config.import', config })).toMatchObject({ missingSecrets: ['other/x'] });
    expect(await current().secrets.list()).toEqual([]);
    expect(await current().gateway.query({ type: 'keys' })).toMatchObject([{ id: 'b', canReveal: false }]);
  });
});
