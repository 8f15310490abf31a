import { pattern } from '../../bounded-pattern.ts';
import type { RequestView } from '../wire.ts';

const yes = pattern(/^(?:true|1|yes|on)$/i);

/** Whether a server may take the request for one for a stream: some take other words for a yes than `true`. */
export function mayMeanStream(body: RequestView): boolean {
  const stream = body.field('stream');
  return stream === true || stream === 1 || (typeof stream === 'string' && yes.test(stream));
}
