/**
 * Takes the secrets out of a whole exchange. A body of 256 kB takes about 20 ms, which no other request may wait for, so that long ones
 * are searched in slices.
 */
import type { CapturedAttempt, CapturedExchange } from '../../contract/capture.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import { finish, finishInSlices, type Steps } from '../../ground/yield-to-event-loop.ts';
import { type CaptureRules, withoutSecrets } from './message-capture.ts';

/** Up to here all is done at once. */
const mostBytesAtOnce = 16 * 1024;
/** Of exchanges that wait in memory. Those of one that is larger alone are kept all the same. */
const mostBytesWaiting = 64 * 1024 * 1024;

let waitingBytes = 0;

/** Null if too many are waiting already: memory must not fill with them. */
export function redactedExchange(
  exchange: CapturedExchange<Buffer>,
  rules: CaptureRules,
): MaybePromise<CapturedExchange<Buffer> | null> {
  const bytes = bytesOf(exchange);
  const steps = redactionSteps(exchange, rules);
  if (bytes <= mostBytesAtOnce) return finish(steps);
  if (waitingBytes > 0 && waitingBytes + bytes > mostBytesWaiting) return null;
  waitingBytes += bytes;
  return finishInSlices(steps).finally(() => {
    waitingBytes -= bytes;
  });
}

function bytesOf(exchange: CapturedExchange<Buffer>): number {
  const messages = [exchange, ...exchange.attempts].flatMap(({ request, response }) => [request, response]);
  return messages.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

function* redactionSteps(exchange: CapturedExchange<Buffer>, rules: CaptureRules): Steps<CapturedExchange<Buffer>> {
  const both = yield* redacted(exchange, rules);
  const attempts: CapturedAttempt<Buffer>[] = [];
  for (const each of exchange.attempts) attempts.push(yield* redacted(each, rules));
  return { ...both, attempts };
}

function* redacted(
  { request, response }: CapturedAttempt<Buffer>,
  rules: CaptureRules,
): Steps<CapturedAttempt<Buffer>> {
  return { request: yield* withoutSecrets(request, rules), response: yield* withoutSecrets(response, rules) };
}
