import { type Config, configSchema } from '../contract/config.ts';
import { defaultGroupId } from '../contract/operations.ts';
import { configVersion } from '../contract/removed-features.ts';

/** The configuration of a new data folder, whose person has yet to be shown round and asked. */
export function firstRunConfig(): Config {
  const config = emptyConfig();
  const { settings } = config;
  return { ...config, settings: { ...settings, guide: 'open', capture: { ...settings.capture, recent: 'unasked' } } };
}

/** One group that may use every model of every provider: what is left of a configuration that was lost. */
export function emptyConfig(): Config {
  return configSchema.parse({
    version: configVersion,
    groups: [{ id: defaultGroupId, models: ['*'], providers: ['*'] }],
  });
}
