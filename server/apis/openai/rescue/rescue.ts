/** Continues broken streams of OpenAI's API. */
import type { RescueFormat } from '../../core/stream-text.ts';
import { ChatSplice } from './chat-splice.ts';
import { ChatText, type PartialChat } from './chat-text.ts';
import { continuedBody } from './continued-body.ts';
import { ResponseSplice } from './response-splice.ts';
import { type PartialResponse, ResponseText } from './response-text.ts';

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
