import { isObject } from '../contract/is-object.ts';
import type { RestKind } from './framing.ts';
import { type StreamEvent, saysNothing } from './sse-event.ts';

/**
 * What a stream leaves after its last blank line. Some upstreams end without one, and SDKs take the rest for an event
 * then; a mere piece of one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer, event: StreamEvent | null): RestKind {
  if (event?.data === '[DONE]' || isObject(event?.value)) return 'event';
  return saysNothing(rest) ? 'nothing' : 'piece';
}
