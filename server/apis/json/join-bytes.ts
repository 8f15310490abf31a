import { yieldToEventLoop } from '../../ground/yield-to-event-loop.ts';

/** Copying this much takes at most a few milliseconds. */
const atOnceBytes = 4 * 1024 * 1024;

/** Concatenates the pieces. Long ones are copied in slices, with a turn of the event loop between them. */
export async function joinBytes(pieces: readonly Buffer[]): Promise<Buffer> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  let restBytes = atOnceBytes;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const count = piece.copy(whole, at, from, from + restBytes);
      at += count;
      from += count;
      restBytes -= count;
      if (restBytes === 0) await yieldToEventLoop();
      restBytes ||= atOnceBytes;
    }
  }
  return whole;
}
