/** The frozen configuration, its revisions, and the first one of all. */
import { type Config, type ConfigInput, configSchema } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { defaultGroupId } from '../contract/operations.ts';
import { configVersion } from '../contract/removed-features.ts';
import { problemsOf, summarizeProblems } from './check-config.ts';
import { parseReusing } from './known-entries.ts';

/**
 * `current`: the configuration before the change. Throws a GatewayError `invalid_command` if the schema refuses the new
 * one.
 */
export function validateChange(next: ConfigInput, current: Config): Config {
  const config = parseReusing(next, current);
  if (config) return config;
  const result = configSchema.safeParse(next);
  if (result.success) return result.data;
  throw new GatewayError('invalid_command', `The change is refused: ${summarizeProblems(problemsOf(result.error))}.`);
}

/** The commit has succeeded, so a failing listener must not make it look failed. */
export function notifyListeners<T>(listeners: Iterable<(revision: T) => void>, revision: T): void {
  for (const listener of [...listeners]) {
    try {
      listener(revision);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : 'a configuration listener failed');
    }
  }
}

/** Freezes a tree of plain objects and arrays and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

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
