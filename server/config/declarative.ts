import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import { describeFileProblem, readRegularFile } from '../ground/files/regular-file.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { checkConfig, parseConfigJson, summarizeProblems } from './check-config.ts';
import { type ConfigRevision, type ConfigStore, deepFreeze, notifyListeners } from './config-store.ts';

/** A configuration file that a person or a deployment writes. Sluice never writes it. */
export interface DeclarativeConfig extends ConfigStore {
  /**
   * Reads the file again and, if it is valid, puts it in force as a new revision, even if it is unchanged: the values
   * of its `env:` and `file:` references may be new. Otherwise rejects with a GatewayError and changes nothing.
   */
  reload(): Promise<ConfigRevision>;
}

/**
 * Reads the file of `serve --config FILE`. Rejects with a GatewayError that names the file, the place and the error.
 */
export async function loadDeclarativeConfig(path: string): Promise<DeclarativeConfig> {
  const listeners = new Set<(revision: ConfigRevision) => void>();
  const inTurn = createSerialQueue();
  let read = await readConfig(path);
  let current: ConfigRevision = { config: deepFreeze(read.config), revision: 1 };
  const reload = async () => {
    read = await readConfig(path);
    current = { config: deepFreeze(read.config), revision: current.revision + 1 };
    notifyListeners(listeners, current);
    return current;
  };
  return {
    get current() {
      return current;
    },
    readOnly: true,
    isFirstRun: false,
    notices: [],
    get removed() {
      return read.removed;
    },
    replaced: null,
    commit: async () => {
      throw new GatewayError(
        'read_only',
        `The configuration comes from ${path} and is read-only here: change that file, which Sluice then reads again.`,
      );
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reload: () => inTurn(reload),
  };
}

async function readConfig(path: string): Promise<{ config: Config; removed: string[] }> {
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw refused(path, describeFileProblem(error));
  });
  const value = parse(path, text);
  const checked = checkConfig(value);
  if (checked.kind === 'good') return { config: checked.config, removed: describeRemovedFields(value, path) };
  throw refused(path, checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems));
}

function parse(path: string, text: string): unknown {
  try {
    return parseConfigJson(text);
  } catch (error) {
    throw refused(path, describeFileProblem(error));
  }
}

function refused(path: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', `The configuration file ${path} cannot be used: ${reason}.`);
}
