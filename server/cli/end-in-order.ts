import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { redactText } from '../log.ts';
import type { Engine } from '../open-engine.ts';
import { exitCodes } from './exit-codes.ts';

/** Durations of the program's end, in milliseconds. */
export interface Ending {
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
const signals = ['SIGTERM', 'SIGINT'] as const;

/** The time after a signal at which the process has exited in any case. */
export function longestEndMs({ shutdownDelayMs, gracePeriodMs }: Ending): number {
  return shutdownDelayMs + gracePeriodMs + closeMs;
}

/**
 * On SIGTERM or SIGINT, exits with 0 once the running requests have ended or their time is over; on a second signal,
 * immediately. SIGHUP only reads the configuration again, so that the terminal may be closed. An uncaught exception is
 * logged and reported, and the process exits with 1, because the program's state is unknown.
 */
export function endInOrder(engine: Engine, ending: Ending, notice: (line: string) => void): void {
  let endingSinceMs: number | undefined;
  for (const signal of signals) {
    process.on(signal, () => {
      if (endingSinceMs !== undefined) {
        if (performance.now() - endingSinceMs > sameSignalMs) process.exit(128 + constants.signals[signal]);
        return;
      }
      endingSinceMs = performance.now();
      const latestMs = ending.shutdownDelayMs + ending.gracePeriodMs;
      notice(`${signal}: Sluice ends after the running requests, in ${latestMs / 1000} s at the latest.`);
      void end(engine, ending);
    });
  }
  process.on('SIGHUP', () => void engine.reload());
  process.on('uncaughtException', (error) => {
    engine.logFile.log.fatal({ error }, 'a fault in Sluice');
    engine.logFile.flush();
    notice(`Internal error: ${redactText(error.message)}. Sluice ends now; see ${engine.logFile.path}.`);
    process.exit(exitCodes.failure);
  });
}

async function end(engine: Engine, ending: Ending): Promise<void> {
  setTimeout(() => process.exit(exitCodes.failure), longestEndMs(ending)).unref();
  engine.gateway.drain();
  await sleep(ending.shutdownDelayMs);
  await engine.close(ending.gracePeriodMs);
  process.exit(exitCodes.ok);
}
