import { constants } from 'node:os';
import { redactText } from '../log.ts';
import type { Engine } from '../open-engine.ts';
import { exitCodes } from './exit-codes.ts';

const drainMs = 10_000;
/** For everything besides the requests; then something hangs, and the process ends all the same. */
const closeMs = 5_000;
/**
 * One signal can come twice: a Ctrl+C by the terminal and passed on by npm; any by the clean-up that comes with `conf`
 * once it has written, which raises it again. A person who means it takes longer.
 */
const sameSignalMs = 1_000;
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Ends the process with 0 on a signal, once running requests have ended or `drainMs` are over; at once on a second one.
 * A fault that nobody caught is logged and said, and ends it with 1: what state the program is in then, nobody knows.
 */
export function endInOrder(engine: Engine, notice: (line: string) => void): void {
  let endingSinceMs: number | undefined;
  for (const signal of signals) {
    process.on(signal, () => {
      if (endingSinceMs !== undefined) {
        if (performance.now() - endingSinceMs > sameSignalMs) process.exit(128 + constants.signals[signal]);
        return;
      }
      endingSinceMs = performance.now();
      notice(`${signal}: Sluice ends when running requests have, in ${drainMs / 1000} s at the latest.`);
      void end(engine);
    });
  }
  process.on('uncaughtException', (error) => {
    engine.logFile.log.fatal({ error }, 'a fault in Sluice');
    engine.logFile.flush();
    notice(`A fault in Sluice: ${redactText(error.message)}. It ends now; ${engine.logFile.path} tells more.`);
    process.exit(exitCodes.failure);
  });
}

async function end(engine: Engine): Promise<void> {
  setTimeout(() => process.exit(exitCodes.failure), drainMs + closeMs).unref();
  await engine.close(drainMs);
  process.exit(exitCodes.ok);
}
