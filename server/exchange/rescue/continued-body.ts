import type { Prefill } from '../../providers/prefill.ts';
import { peekJson } from '../../wire/json/json-peek.ts';
import { applyEdits, type JsonEdit } from '../../wire/json/json-splice.ts';

/** A chat request that asks for the rest of an answer that begins with `text`; null if its messages cannot be found. */
export function continuedBody(body: Buffer, text: string, { message, request }: Prefill): Buffer | null {
  const peek = peekJson(body, ['messages']);
  const messages = peek.ok ? peek.fields.get('messages') : undefined;
  if (!peek.ok || !messages || body[messages.start] !== openBracket) return null;
  const isEmpty = body.toString('utf8', messages.start + 1, messages.end - 1).trim() === '';
  const begun = JSON.stringify({ role: 'assistant', content: text, ...message });
  const edits: JsonEdit[] = [
    { start: messages.end - 1, end: messages.end - 1, text: isEmpty ? begun : `,${begun}` },
    ...Object.entries(request).map(([name, value]) => ({
      start: peek.end,
      end: peek.end,
      text: `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    })),
  ];
  return applyEdits(body, edits);
}

const openBracket = 0x5b;
