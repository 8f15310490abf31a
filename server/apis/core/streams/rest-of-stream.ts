import { isObject } from '../../../contract/is-object.ts';
import type { RestKind } from '../framing.ts';
import { isKeepAlive, type StreamEvent } from '../sse-event.ts';

/**
 * Classifies the data after a stream's last blank line. If an upstream omits the final blank line, SDKs treat the rest as
 * an event; an incomplete one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer, event: StreamEvent | null): RestKind {
  if (event?.data === '[DONE]' || isObject(event?.value)) return 'event';
  return isKeepAlive(rest) ? 'nothing' : 'piece';
}
