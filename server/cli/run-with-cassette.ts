/**
 * Runs a program with a gateway that exists only as long as the program, in a temporary data folder: none of the user's
 * files are changed.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareFolder } from '../cassettes/cassette-files.ts';
import { type CassetteSummary, OpenCassette } from '../cassettes/deck.ts';
import type { CassetteMode } from '../contract/cassette.ts';
import type { ConfigInput } from '../contract/config.ts';
import { configVersion } from '../contract/removed-features.ts';
import { counted } from '../contract/units.ts';
import { acquireFallbackLock, findInstance, type InstanceLock } from '../data-folder/instance-lock.ts';
import { type Environment, readEnvironment } from '../engine/environment.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import { openListening } from './open-control.ts';
import { createOutput } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type AroundRun, type RunChoices, runProgram } from './run-program.ts';
import type { Terminal } from './terminal.ts';

interface CassetteRun {
  mode: CassetteMode;
  /** The cassette's folder. */
  folder: string;
  pace: number;
  configFile: string | undefined;
  dataDir: string | undefined;
  terminal: Terminal;
  around?: AroundRun;
  /** Whether the summary is printed as JSON, to the standard output. */
  isJson?: boolean | undefined;
  failOnUnused?: boolean | undefined;
}

/** Resolves with the program's exit code. */
export async function runWithCassette(line: readonly string[], choices: RunChoices, run: CassetteRun): Promise<number> {
  const { mode, folder } = run;
  const lock = mode === 'replay' ? null : await claimForRecording(folder);
  try {
    return await runClaimed(line, choices, { ...run, lock });
  } finally {
    await lock?.release();
  }
}

/** Two processes would give the same number to different recordings. Null if it cannot be claimed on this machine. */
async function claimForRecording(folder: string): Promise<InstanceLock | null> {
  await prepareFolder(folder);
  const lock = await acquireFallbackLock(folder);
  if (lock === null || !('holder' in lock)) return lock;
  throw new CliError(
    `Another "sluice record" is writing to ${folder} (process ${lock.holder.pid}). Wait for its end, or give this one a folder of its own.`,
  );
}

async function runClaimed(
  line: readonly string[],
  choices: RunChoices,
  run: CassetteRun & { lock: InstanceLock | null },
): Promise<number> {
  const { mode, folder, pace, terminal, around } = run;
  const output = createOutput(terminal, false);
  const cassette = await OpenCassette.open({ folder, mode, pace, problem: output.note });
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-cassette-'));
  try {
    // Nothing may be written to the database of a team either.
    const environment = { ...readEnvironment(terminal.env), store: undefined };
    const own = await prepare(temporary, cassette, { ...run, environment });
    const control = await openListening(temporary, {
      env: terminal.env,
      windowFolders: [],
      teamPresets: terminal.teamPresets,
      loadTeam: terminal.loadTeam,
      cassette,
      notice: output.note,
      ...own,
    });
    let code: number;
    try {
      const instance = run.lock && (await findInstance(temporary));
      if (instance?.host && instance.port) {
        const { host, port, instanceId } = instance;
        await run.lock?.update({ host, port, instanceId });
      }
      code = await runProgram(line, choices, { control, output, env: terminal.env, dataDir: temporary, around });
    } finally {
      await control.close();
    }
    const { summary } = cassette;
    // On a line of its own, whatever the program has printed.
    if (run.isJson) terminal.stdout.write(`\n${JSON.stringify({ cassette: folder, mode, ...summary })}\n`);
    else output.note(describeSummary(summary, mode, folder));
    const faults = summary.misses + summary.failed + (run.failOnUnused ? summary.unused.length : 0);
    return code === exitCodes.ok && faults > 0 ? exitCodes.failure : code;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface Preparation extends Pick<CassetteRun, 'mode' | 'configFile' | 'dataDir'> {
  environment: Environment;
}

/** Writes the configuration; returns where secrets are read from. */
async function prepare(
  temporary: string,
  { models }: OpenCassette,
  { mode, configFile, dataDir, environment }: Preparation,
): Promise<{ environment: Environment; secretsFolder?: string }> {
  const config = join(temporary, 'config.json');
  if (mode === 'replay') {
    await writeFile(config, JSON.stringify(replayConfig(models)), { mode: 0o600 });
    // A gateway without secrets need not open a keychain.
    return { environment: { ...environment, secrets: 'file' } };
  }
  const secretsFolder = dataDir ?? environment.dataDir;
  if (configFile === undefined) await copyConfig(join(secretsFolder, 'config.json'), config);
  else {
    const { loadDeclarativeConfig } = await import('../config/declarative.ts');
    // Copied, because the program's key is added to it.
    await writeFile(config, JSON.stringify((await loadDeclarativeConfig(configFile)).current.config), { mode: 0o600 });
  }
  return { environment, secretsFolder };
}

/** The provider is never asked; it lets programs list the models that were used in the recording. */
function replayConfig(models: ReadonlySet<string>): ConfigInput {
  const provider = { id: 'cassette', name: 'Cassette', baseUrl: 'http://127.0.0.1:9/v1', models: [...models] };
  return {
    version: configVersion,
    providers: models.size > 0 ? [provider] : [],
    groups: [{ id: 'default' }],
    settings: { demo: 'off' },
  };
}

/** Without a configuration, the gateway has the demo provider, as at a first start. */
async function copyConfig(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw new CliError(`The configuration ${from} cannot be read: ${describeFileProblem(error)}.`);
  }
}

const maxNamed = 10;

/** A few lines for a person. */
export function describeSummary(summary: CassetteSummary, mode: CassetteMode, folder: string): string {
  const { hits, misses, recorded, unrecorded, failed, unused } = summary;
  const counts = [
    ...(mode === 'record' ? [] : [`${hits} replayed`]),
    ...(mode === 'replay' ? [`${misses} without a recording`] : [`${recorded} recorded`]),
    ...(unrecorded > 0 ? [`${unrecorded} not recorded, as Sluice refused them or their answer is too large`] : []),
    ...(failed > 0 ? [`${failed} could not be written`] : []),
  ];
  const lines = [`Cassette ${folder}: ${counts.join(', ')}.`];
  if (unused.length > 0) lines.push(`${counted(unused.length, 'recording')} not asked for: ${namesOf(unused)}.`);
  return lines.join('\n');
}

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}
