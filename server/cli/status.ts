/** `sluice status` and `sluice stop`. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { isBehindPublicAddress } from '../contract/address.ts';
import { GatewayError } from '../contract/errors.ts';
import type { QueryResults } from '../contract/queries.ts';
import { claimFolder } from '../data-folder/claim-folder.ts';
import type { InstanceInfo } from '../data-folder/instance-lock.ts';
import { readEnvironment } from '../engine/environment.ts';
import { systemErrorCode } from '../ground/files/file-problem.ts';
import type { Control } from './control.ts';
import { describeFaults } from './describe-faults.ts';
import { describeCaptured, describeLedger } from './describe-ledger.ts';
import { describeSharedCounts } from './describe-replica-limits.ts';
import type { Examples } from './examples.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { localTime } from './shown.ts';
import type { Terminal } from './terminal.ts';
import type { Verbs } from './verb.ts';

export const statusExamples: Examples = {
  status: ['sluice status', 'sluice status --json'],
  stop: ['sluice stop', 'sluice stop --data-dir ./data'],
};

export function addStatusVerb(program: Command, { on }: Verbs): void {
  const status = program
    .command('status')
    .description('show whether Sluice is running and what it serves; the exit code is 1 if it is not running');
  on(status, async ({ control, output, dataDir }) => {
    const [state, providers, running] = await Promise.all([
      control.query({ type: 'status' }),
      control.query({ type: 'providers' }),
      countRunning(control),
    ]);
    const isRunning = control.origin !== null;
    if (!isRunning) process.exitCode = exitCodes.failure;
    const facts = isRunning ? describeRunning(state, running) : [`Sluice is not running on ${dataDir}.`];
    output.show(
      { running: isRunning, ...state, runningRequests: running },
      [...facts, `Providers:   ${describeProviders(providers)}`, `Data:        ${dataDir}`].join('\n'),
    );
  });
}

/** Null if the ledger cannot be read. */
async function countRunning(control: Control): Promise<number | null> {
  try {
    const { requests } = await control.query({ type: 'requests', filter: { outcome: 'running' }, limit: 1000 });
    return requests.length;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'storage_unavailable') return null;
    throw error;
  }
}

function describeRunning(state: QueryResults['status'], running: number | null): string[] {
  return [
    `Sluice ${state.version} is running at ${describeAddress(state)} (process ${state.pid}, since ${localTime(state.startedAt)}).`,
    `Requests:    ${running === null ? 'cannot be counted now' : `${running} running`}`,
    `Request log: ${describeLedger(state.ledger)}${describeCaptured(state)}`,
    `Secrets:     ${state.secretStore ?? 'not needed so far'}`,
    ...(state.sharedCounts ? [`Limits:      ${describeSharedCounts(state.sharedCounts)}`] : []),
    ...state.faults.map(describeFaults),
  ];
}

/** The public address too, if there is one, since that is the one to give to clients. */
export function describeAddress(status: QueryResults['status']): string {
  const { baseUrl, listensAt } = status;
  return isBehindPublicAddress(status) ? `${baseUrl}, listening at ${listensAt}` : String(baseUrl);
}

function describeProviders(providers: QueryResults['providers']): string {
  const real = providers.filter(({ isDemo }) => !isDemo);
  if (real.length === 0) return providers.length > 0 ? 'the built-in demo' : 'none';
  return real
    .map(({ id, enabled, unusable }) => `${id}${enabled ? (unusable ? ' (unusable)' : '') : ' (off)'}`)
    .join(', ');
}

/** For a Sluice that does not say how long its end may take, such as the desktop: longer than that waits for requests. */
const usualEndMs = 15_000;
/** Added because a busy machine delays the end. */
const marginMs = 5_000;
/** Most ends take less, so that nothing is said about them. */
const silentMs = 1_000;
const pollMs = 50;

interface StopOptions {
  dataDir?: string;
  json?: boolean;
}

export function addStop(program: Command, terminal: Terminal): void {
  const stop = program
    .command('stop')
    .description('stop the running Sluice when its requests have ended, or after its grace period')
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'print JSON');
  stop.action(async () => {
    const options = stop.opts<StopOptions>();
    const output = createOutput(terminal, options.json ?? false);
    const dataDir = options.dataDir ?? readEnvironment(terminal.env).dataDir;
    const claim = await claimFolder(dataDir);
    if (!('holder' in claim)) {
      await claim.lock.release();
      throw new CliError(`Sluice is not running on ${dataDir}.`);
    }
    const { pid } = claim.holder;
    await endProcess(claim.holder, output);
    output.show({ stopped: pid }, `Sluice (process ${pid}) has ended.`);
  });
}

/** On Windows, which has no SIGTERM, the process ends immediately. */
async function endProcess({ pid, longestEndMs = usualEndMs }: InstanceInfo, output: Output): Promise<void> {
  const limitMs = longestEndMs + marginMs;
  try {
    process.kill(pid, 'SIGTERM');
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += pollMs) {
      if (waitedMs === silentMs)
        output.note(`Waiting for the running requests of process ${pid}, ${longestEndMs / 1000} s at the longest.`);
      await wait(pollMs);
      process.kill(pid, 0);
    }
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return;
    throw new CliError(`Process ${pid} cannot be ended: ${error instanceof Error ? error.message : String(error)}.`);
  }
  throw new CliError(`Process ${pid} has not ended within ${limitMs / 1000} seconds.`);
}
