import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommandInput } from '../../../server/contract/commands.ts';
import { hashOf } from '../../support/gateway.ts';
import { baseUrl, startCommandGateway } from './command-gateway.ts';
import type { ControlGateway } from './control-gateway.ts';

let sluice: ControlGateway;

beforeEach(async () => {
  sluice = await startCommandGateway();
});

afterEach(() => sluice.stop());

const run = (command: CommandInput) => sluice.gateway.execute(command);
const stored = async () => JSON.parse(await sluice.configText());

describe('an import', () => {
  test('of an export changes nothing, and the secrets stay', async () => {
    await run({ type: 'key.create', name: 'a' });
    const before = await stored();
    const { config } = await sluice.gateway.query({ type: 'config' });
    expect(await run({ type: 'config.import', config })).toEqual({ revision: 3, missingSecrets: [] });
    expect(await stored()).toEqual(before);
    expect(await sluice.secrets.list()).toEqual(['key/a', 'provider/main/c1']);
  });

  test('deletes the secrets of what it drops and names those it lacks', async () => {
    const { secret: made } = await sluice.gateway.execute({ type: 'key.create', name: 'a' });
    const config = {
      version: 1 as const,
      providers: [{ id: 'other', baseUrl, models: ['m'], credentials: [{ id: 'x' }] }],
      groups: [{ id: 'default' }],
      keys: [{ id: 'b', group: 'default', hash: hashOf(made), secret: 'keychain' }],
    };
    expect(await run({ type: 'config.import', config })).toMatchObject({ missingSecrets: ['other/x'] });
    expect(await sluice.secrets.list()).toEqual([]);
    expect(await sluice.gateway.query({ type: 'keys' })).toMatchObject([{ id: 'b', canReveal: false }]);
  });
});
