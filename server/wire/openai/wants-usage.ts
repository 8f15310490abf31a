import { isObject } from '../../contract/is-object.ts';
import type { IncomingBody } from '../../http/body/incoming-body.ts';

/** Whether the client itself asked for the usage at the end of its chat stream. */
export function wantsUsage(body: IncomingBody): boolean {
  const options = body.field('stream_options');
  return isObject(options) && options.include_usage === true;
}
