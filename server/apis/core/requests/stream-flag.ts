import { boundedPattern } from '../../../ground/bounded-pattern.ts';

const yes = boundedPattern(/^(?:true|1|yes|on)$/i);
const no = boundedPattern(/^(?:false|0|no|off)$/i);

/**
 * What the field `stream` of a request says, in a form or in JSON. Lenient parsers, such as pydantic's in FastAPI and
 * vLLM, accept a number or a word for `true`. Undefined for what none of them accepts.
 */
export function readStreamFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (yes.test(text)) return true;
  return no.test(text) ? false : undefined;
}
