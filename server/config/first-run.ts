import { type Config, configSchema, configVersion } from '../contract/config.ts';

/** The group that the first key belongs to. */
const defaultGroupId = 'default';

/** What a new program starts with: one group that may use every model of every provider. */
export function firstRunConfig(): Config {
  return configSchema.parse({
    version: configVersion,
    groups: [{ id: defaultGroupId, models: ['*'], providers: ['*'] }],
  });
}
