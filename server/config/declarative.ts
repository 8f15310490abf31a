import { readFile } from 'node:fs/promises';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { checkConfig, summarizeProblems } from './check-config.ts';
import type { ConfigRevision, ConfigStore } from './config-store.ts';
import { deepFreeze } from './deep-freeze.ts';
import { parseJson } from './parse-json.ts';
import { notifyListeners } from './revisions.ts';

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
  let current: ConfigRevision = { config: deepFreeze(await readConfig(path)), revision: 1 };
  const reload = async () => {
    current = { config: deepFreeze(await readConfig(path)), revision: current.revision + 1 };
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

async function readConfig(path: string): Promise<Config> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw refused(path, describeFileProblem(error));
  });
  const checked = checkConfig(parse(path, text));
  if (checked.kind === 'good') return checked.config;
  throw refused(path, checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems));
}

function parse(path: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw refused(path, describeFileProblem(error));
  }
}

function refused(path: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', `The configuration file ${path} cannot be used: ${reason}.`);
}
