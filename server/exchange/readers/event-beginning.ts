import { pattern } from '../../bounded-pattern.ts';

/** Whether bytes that should be a stream of events begin as one: with a field or a comment. */
export function beginsLikeAnEvent(bytes: Buffer): boolean {
  return fieldOrComment.test(bytes.toString('latin1', 0, 64));
}

const fieldOrComment = pattern(/^(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:/);
