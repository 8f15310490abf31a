import { isObject } from '../../contract/is-object.ts';
import type { RequestView } from '../wire.ts';

/** Whether the client itself asked for the usage at the end of its chat stream. */
export function wantsUsage(body: RequestView): boolean {
  const options = body.field('stream_options');
  return isObject(options) && options.include_usage === true;
}
