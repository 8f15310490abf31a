import { readFile } from 'node:fs/promises';
import type { Config } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import { describeFileProblem } from '../files/file-problem.ts';
import { checkConfig, summarizeProblems } from './check-config.ts';
import type { ConfigStore } from './config-store.ts';
import { deepFreeze } from './deep-freeze.ts';
import { parseJson } from './parse-json.ts';

/** Reads the file of `serve --config FILE`; it is never written. Rejects with a GatewayError that names file, place and fault. */
export async function loadDeclarativeConfig(path: string): Promise<ConfigStore> {
  const config = deepFreeze(await readConfig(path));
  return {
    current: { config, revision: 1 },
    readOnly: true,
    isFirstRun: false,
    notices: [],
    replaced: null,
    commit: async () => {
      throw new GatewayError(
        'read_only',
        `The configuration comes from ${path} and is read-only here: change that file and start Sluice again.`,
      );
    },
    onChange: () => () => {},
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
