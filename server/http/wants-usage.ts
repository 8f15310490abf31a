import type { IncomingBody } from './outgoing-body.ts';
import { isObject } from './parse-object.ts';

/** Whether the client itself asked for the usage at the end of its chat stream. */
export function wantsUsage(body: IncomingBody): boolean {
  const options = body.field('stream_options');
  return isObject(options) && options.include_usage === true;
}
