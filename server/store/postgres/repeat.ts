import { every } from '../../ground/timers.ts';
import { messageOf } from '../rules/failures.ts';

interface Repeated {
  everyMs: number;
  work(): Promise<unknown>;
  log: { warn(fields: object, message: string): void };
  /** Logged if the work fails. It is repeated at the next interval all the same. */
  failed: string;
}

/** Repeats until `clearInterval`; does not keep the process alive. */
export function repeat({ everyMs, ...repeated }: Repeated): NodeJS.Timeout {
  return every(() => doOnce(repeated), everyMs).unref();
}

async function doOnce({ work, log, failed }: Omit<Repeated, 'everyMs'>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ error: messageOf(error) }, failed);
  }
}
