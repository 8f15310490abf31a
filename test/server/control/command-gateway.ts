import { afterEach, beforeEach } from 'vitest';
import type { CommandInput } from '../../../server/contract/commands.ts';
import { type ControlGateway, startControlGateway } from './control-gateway.ts';

export const baseUrl = 'https://api.example.com/v1';
/** The credential of the provider `main`. */
export const secret = 'sk-planted-4711';

/** Starts a gateway with two providers, an alias and two groups for each test. Registers the hooks. */
export function commandGatewayInSuite() {
  let sluice: ControlGateway;
  beforeEach(async () => {
    sluice = await startControlGateway({
      config: {
        providers: [
          { id: 'main', baseUrl, credentials: [{ id: 'c1' }], models: ['gpt-x'] },
          { id: 'spare', baseUrl, models: ['gpt-x'] },
        ],
        aliases: [{ name: 'fast', targets: [{ provider: 'spare', model: 'gpt-x' }] }],
        groups: [{ id: 'default' }, { id: 'team', order: [{ provider: 'main', priority: 1 }] }],
      },
      secrets: { 'provider/main/c1': secret },
    });
  });
  afterEach(() => sluice.stop());
  return {
    /** The gateway of the current test. */
    current: () => sluice,
    run: (command: CommandInput) => sluice.gateway.execute(command),
    /** The configuration as stored on disk. */
    stored: async () => JSON.parse(await sluice.configText()),
  };
}
