/** Limits for a server that may not answer. */
import { after } from '../../ground/timers.ts';

/** How long a person waits for a server that does not answer. */
const queryTimeoutMs = 2_500;

/** Rejects if the work has not settled within `queryTimeoutMs`; what comes of it later is given to `late`. */
export async function withTimeout<T>(work: Promise<T>, late: (result: T) => void = () => {}): Promise<T> {
  let isLate = false;
  work.then((result) => isLate && late(result)).catch(() => {});
  const limit = Promise.withResolvers<never>();
  const timer = after(() => {
    isLate = true;
    limit.reject(new Error('it does not answer'));
  }, queryTimeoutMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
