import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Engine } from '../engine/open-engine.ts';
import { redactLogText } from '../ground/files/log.ts';
import { isResourceExhaustion } from '../ground/resource-exhaustion.ts';
import { after } from '../ground/timers.ts';
import { messageOf } from '../store/rules/failures.ts';
import { exitCodes } from './programs/exit-codes.ts';

/** Durations of the program's end, in milliseconds. */
export interface ShutdownTimes {
  /** Time between the signal and the end of accepting requests, in which load balancers can notice. */
  shutdownDelayMs: number;
  /** Time that running requests have to end. */
  gracePeriodMs: number;
}

/** Time to close everything else after the requests; then the process exits regardless. */
const closeMs = 5_000;
/**
 * The same signal may arrive twice: npm forwards a Ctrl+C that the terminal also delivers, and `conf`'s exit handler
 * raises signals again. A second signal within this time is ignored.
 */
const sameSignalMs = 1_000;
/** Both end the process. */
export const endSignals = ['SIGTERM', 'SIGINT'] as const;

/** The time after a signal at which the process has exited in any case. */
export function maxShutdownMs({ shutdownDelayMs, gracePeriodMs }: ShutdownTimes): number {
  return shutdownDelayMs + gracePeriodMs + closeMs;
}

/**
 * On SIGTERM or SIGINT, exits with 0 once the running requests have ended or their time is over; on a second signal,
 * immediately. SIGHUP only reads the configuration again, so that the terminal may be closed. An uncaught exception is
 * logged and reported, and the process exits with 1, because the program's state is unknown; except one that says that
 * the machine is short of something, and a rejection that nobody waits for, which belongs to work in the background.
 */
export function shutDownGracefully(engine: Engine, times: ShutdownTimes, notice: (line: string) => void): void {
  let endingSinceMs: number | undefined;
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (endingSinceMs !== undefined) {
        if (performance.now() - endingSinceMs > sameSignalMs) exit(engine, 128 + constants.signals[signal]);
        return;
      }
      endingSinceMs = performance.now();
      const latestMs = times.shutdownDelayMs + times.gracePeriodMs;
      notice(`${signal}: Sluice ends after the running requests, in ${latestMs / 1000} s at the latest.`);
      end(engine, times).catch((fault: unknown) => endByFault(engine, fault, notice));
    });
  }
  process.on('SIGHUP', () => void engine.reload());
  process.on('unhandledRejection', (error) => engine.logFile.log.error({ error }, 'a fault in the background'));
  process.on('uncaughtException', (error) => {
    if (isResourceExhaustion(error)) engine.logFile.log.error({ error }, 'a fault in the background');
    else endByFault(engine, error, notice);
  });
}

async function end(engine: Engine, times: ShutdownTimes): Promise<void> {
  after(() => exit(engine, exitCodes.failure), maxShutdownMs(times)).unref();
  killLater(maxShutdownMs(times) + closeMs);
  engine.gateway.drain();
  await sleep(times.shutdownDelayMs);
  await engine.close(times.gracePeriodMs);
  exit(engine, exitCodes.ok);
}

let isEndedByFault = false;

async function endByFault(engine: Engine, fault: unknown, notice: (line: string) => void): Promise<void> {
  if (isEndedByFault) return;
  isEndedByFault = true;
  const { logFile } = engine;
  logFile.log.fatal({ error: fault }, 'a fault in Sluice');
  notice(`Internal error: ${redactLogText(messageOf(fault))}. Sluice ends now; see ${logFile.path}.`);
  await logFile.close();
  exit(engine, exitCodes.failure);
}

/** Node's exit waits for the threads that use the disk, for ever if that hangs. Then only a signal ends the process. */
function exit({ logFile }: Engine, code: number): void {
  if (logFile.isStuck) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

/** Ends the process from a thread, in case a synchronous call to a disk that hangs never returns. */
function killLater(delayMs: number): void {
  try {
    const source = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${delayMs})`;
    const thread = new Worker(source, { eval: true, name: 'end', execArgv: [], env: {} });
    thread.on('error', () => {});
    thread.unref();
  } catch (error) {
    if (!isResourceExhaustion(error)) throw error;
  }
}
