import type { RequestSession } from '../../../contract/ledger.ts';
import { JsonNames } from '../../json/json-names.ts';
import { peekJson } from '../../json/json-peek.ts';
import { lastElement } from '../../json/last-element.ts';
import { shortText } from '../../json/short-text.ts';
import type { RequestView } from '../wire.ts';

/** A longer last message is not examined. */
const maxBytes = 256 * 1024;
/** Marks are near the beginning of a part; a part of at least this length is text or an image. */
const markedBytes = 64 * 1024;
const quote = 0x22;
const names = new JsonNames(['role', 'type']);
/** Anthropic, Gemini (in both spellings that it accepts), Converse. A quote within a text is escaped, so no text looks like these. */
const resultMarks = ['"tool_result"', '"functionResponse"', '"function_response"', '"toolResult"'];

/** Whether the conversation ends with a person's message or with tool results. */
export function turnStepOf(body: RequestView): RequestSession['step'] {
  const messages = (body.raw('messages') ?? body.raw('input') ?? body.raw('contents'))?.bytes;
  if (!messages) return null;
  if (messages[0] === quote) return 'prompt';
  const last = lastElement(messages, maxBytes);
  if (!last) return null;
  const message = messages.subarray(last.start, last.end);
  const peek = peekJson(message, names);
  if (!peek.ok) return null;
  const role = shortText(message, peek.fields.get('role'));
  // OpenAI's Responses: `function_call_output`, `custom_tool_call_output`, `local_shell_call_output` …
  if (role === 'tool' || role === 'function' || shortText(message, peek.fields.get('type'))?.endsWith('_output'))
    return 'tools';
  const beginning = message.subarray(0, markedBytes);
  if (resultMarks.some((mark) => beginning.includes(mark))) return 'tools';
  return role === 'user' ? 'prompt' : null;
}
