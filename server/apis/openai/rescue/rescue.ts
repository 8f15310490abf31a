/** The continuation of streams of OpenAI's API: how a second target is asked, and its answer joined to the first. */
import type { Prefix, RescueFormat } from '../../core/wire.ts';
import { JsonNames } from '../../json/json-names.ts';
import { type JsonEdit, joinBytes, peekLongJson, piecesOf } from '../../json/json-peek.ts';
import { ChatSplice, ChatText, type PartialChat } from './chat.ts';
import { type PartialResponse, ResponseSplice, ResponseText } from './response.ts';

/** For chat and legacy completions. */
export const chatRescue: RescueFormat<PartialChat> = {
  openText: () => new ChatText(),
  openSplice: (soFar, options) => new ChatSplice({ soFar, ...options }),
  continuedBody,
};

export const responseRescue: RescueFormat<PartialResponse> = {
  openText: () => new ResponseText(),
  openSplice: (soFar) => new ResponseSplice(soFar),
  continuedBody: () => Promise.resolve(null),
};

const messagesName = new JsonNames(['messages']);

/** A chat request for the rest of an answer that begins with `text`; null if its messages cannot be found. */
export async function continuedBody(body: Buffer, text: string, { message, request }: Prefix): Promise<Buffer | null> {
  const peek = await peekLongJson(body, messagesName);
  const messages = peek.ok ? peek.fields.get('messages') : undefined;
  if (!peek.ok || !messages || body[messages.start] !== openBracket) return null;
  const prefixMessage = JSON.stringify({ role: 'assistant', content: text, ...message });
  const edits: JsonEdit[] = [
    {
      start: messages.end - 1,
      end: messages.end - 1,
      text: messages.items === 0 ? prefixMessage : `,${prefixMessage}`,
    },
    ...Object.entries(request).map(([name, value]) => ({
      start: peek.end,
      end: peek.end,
      text: `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    })),
  ];
  return joinBytes(piecesOf(body, edits));
}

const openBracket = 0x5b;
