/** Whether two answers in the same API are equivalent: equal text or JSON, and the same tool calls. */
import { isDeepStrictEqual } from 'node:util';
import type { WireName } from '../../apis/neutral/neutral.ts';
import { type ReadAnswer, readAnswer } from '../../apis/translation/read-answer.ts';
import type { CapturedExchange } from '../../contract/capture.ts';

/** Longer ones take too long to parse on the event loop. */
const maxComparedBytes = 1024 * 1024;

type Captured = CapturedExchange<Uint8Array>['response'];

/** Null if one of them was not kept in full, is too long, or is no complete answer. */
export function isSameAnswer(wire: WireName, one: Captured, other: Captured): boolean | null {
  const [first, second] = [answerIn(wire, one), answerIn(wire, other)];
  return first && second && isDeepStrictEqual(contentOf(first), contentOf(second));
}

function answerIn(wire: WireName, { body, gap, status }: Captured): ReadAnswer | null {
  if (body === null || body.length > maxComparedBytes || gap !== null || status === null || status >= 300) return null;
  const answer = readAnswer(wire, Buffer.from(body).toString());
  return answer === null || answer.error !== null || answer.stop === null ? null : answer;
}

/** Without ids, reasoning and surrounding whitespace, which differ from answer to answer. */
function contentOf({ parts }: ReadAnswer): unknown {
  let text = '';
  for (const part of parts) if (part.type === 'text' || part.type === 'refusal') text += part.text;
  return {
    text: inValue(text.trim()),
    calls: parts.flatMap((part) => (part.type === 'call' ? [[part.name, inValue(part.arguments)]] : [])),
    media: parts.flatMap((part) => (part.type === 'media' ? [part.source] : [])),
  };
}

/** JSON as its value, so that whitespace and the order of members do not count. */
function inValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    return text;
  }
}
