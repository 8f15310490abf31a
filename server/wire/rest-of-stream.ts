import { parseObject } from './json/parse-object.ts';
import { dataOf, lineEnd } from './sse-event.ts';

/**
 * What a stream leaves after its last blank line. Some upstreams end without one, and SDKs take the rest for an event
 * then; a mere piece of one makes them fail on its JSON. `nothing`: comments and the like.
 */
export function kindOfRest(rest: Buffer): 'event' | 'piece' | 'nothing' {
  const text = rest.toString('latin1');
  const data = dataOf(text);
  if (data.trim() === '[DONE]' || parseObject(data) !== null) return 'event';
  return text.split(lineEnd).every((line) => line === '' || line.startsWith(':')) ? 'nothing' : 'piece';
}
