import { type Config, type ConfigInput, configSchema } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
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
