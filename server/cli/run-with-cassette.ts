/** Runs a program with a temporary gateway and data folder, without touching the user's own. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenCassette } from '../cassettes/deck.ts';
import type { CassetteMode } from '../contract/cassette.ts';
import type { ConfigInput } from '../contract/config.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { describeFileProblem, systemErrorCode } from '../files/file-problem.ts';
import { describeSummary } from './cassette-summary.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { openListening } from './open-control.ts';
import { createOutput } from './output.ts';
import { type AroundRun, type RunChoices, runProgram } from './run-program.ts';
import type { Terminal } from './terminal.ts';

interface CassetteRun {
  mode: CassetteMode;
  /** Of the cassette. */
  folder: string;
  pace: number;
  configFile: string | undefined;
  dataDir: string | undefined;
  terminal: Terminal;
  around?: AroundRun;
}

/** Resolves with the exit code. */
export async function runWithCassette(line: readonly string[], choices: RunChoices, run: CassetteRun): Promise<number> {
  const { mode, folder, pace, terminal, around } = run;
  const output = createOutput(terminal, false);
  const cassette = await OpenCassette.open({ folder, mode, pace, problem: output.note });
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-cassette-'));
  try {
    const environment = readEnvironment(terminal.env);
    const own = await prepare(temporary, cassette, { ...run, environment });
    const control = await openListening(temporary, {
      env: terminal.env,
      windowFolders: [],
      teamPresets: terminal.teamPresets,
      cassette,
      notice: output.note,
      ...own,
    });
    let code: number;
    try {
      code = await runProgram(line, choices, { control, output, env: terminal.env, dataDir: temporary, around });
    } finally {
      await control.close();
    }
    const { summary } = cassette;
    output.note(describeSummary(summary, mode, folder));
    return code === exitCodes.ok && summary.misses + summary.failed > 0 ? exitCodes.failure : code;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface Preparation extends Pick<CassetteRun, 'mode' | 'configFile' | 'dataDir'> {
  environment: Environment;
}

/** Writes the configuration; returns where secrets come from. */
async function prepare(
  temporary: string,
  { models }: OpenCassette,
  { mode, configFile, dataDir, environment }: Preparation,
): Promise<{ environment: Environment; secretsFolder?: string }> {
  const config = join(temporary, 'config.json');
  if (mode === 'replay') {
    await writeFile(config, JSON.stringify(replayConfig(models)), { mode: 0o600 });
    // No keychain is opened for a gateway that has no secrets.
    return { environment: { ...environment, secrets: 'file' } };
  }
  const secretsFolder = dataDir ?? environment.dataDir;
  if (configFile === undefined) await copyConfig(join(secretsFolder, 'config.json'), config);
  else {
    const { loadDeclarativeConfig } = await import('../config/declarative.ts');
    // As a copy, since the program's key is added to it.
    await writeFile(config, JSON.stringify((await loadDeclarativeConfig(configFile)).current.config), { mode: 0o600 });
  }
  return { environment, secretsFolder };
}

/** Its provider is never called; it only lets programs list the models of the recording. */
function replayConfig(models: ReadonlySet<string>): ConfigInput {
  const provider = { id: 'cassette', name: 'Cassette', baseUrl: 'http://127.0.0.1:9/v1', models: [...models] };
  return {
    version: 1,
    providers: models.size > 0 ? [provider] : [],
    groups: [{ id: 'default' }],
    settings: { demo: 'off' },
  };
}

/** Without one, the gateway has the demo provider, as at a first start. */
async function copyConfig(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw new CliError(`The configuration ${from} cannot be read: ${describeFileProblem(error)}.`);
  }
}
