import { type Config, configSchema } from '../contract/config.ts';
import { configVersion } from '../contract/migrate-config.ts';
import { defaultGroupId } from '../contract/passthrough.ts';

/** The initial configuration: one group that may use every model of every provider. */
export function firstRunConfig(): Config {
  return configSchema.parse({
    version: configVersion,
    groups: [{ id: defaultGroupId, models: ['*'], providers: ['*'] }],
  });
}
