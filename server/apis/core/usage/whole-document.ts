import { parseObject } from '../../json/parse-object.ts';
import type { KeptAnswer } from '../wire.ts';

const openBrace = 0x7b;

/** A short answer as JSON; null if it is not kept whole, or is no JSON object. */
export function wholeDocument({ tail, bytes }: Pick<KeptAnswer, 'tail' | 'bytes'>): Record<string, unknown> | null {
  const isObject = bytes <= tail.length && tail.find((byte) => byte > 0x20 && byte < 0x80) === openBrace;
  return isObject ? parseObject(tail.toString('utf8').trim()) : null;
}
