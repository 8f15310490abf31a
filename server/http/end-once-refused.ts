/** Ends a person's event stream soon after their session or token has ended, wherever that was done. */
import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../people/caller.ts';

const checkEveryMs = 500;

/** `check` rejects once it is refused. What the person may see having changed ends the stream as well: the next shows that. */
export function endOnceRefused(response: ServerResponse, by: Caller, check: () => Promise<Caller | undefined>): void {
  let isChecking = false;
  const timer = setInterval(async () => {
    if (isChecking) return;
    isChecking = true;
    const now = await check().catch(() => undefined);
    isChecking = false;
    if (!isDeepStrictEqual(now?.person, by.person)) response.end();
  }, checkEveryMs);
  response.once('close', () => clearInterval(timer));
}
