import type { WireTranslation } from '../wire-translation.ts';
import { parseChatAnswer } from './parse-answer.ts';
import { ChatEventParser } from './parse-events.ts';
import { parseChatRequest } from './parse-request.ts';
import { renderChatAnswer } from './render-answer.ts';
import { ChatEventRenderer } from './render-events.ts';
import { renderChatRequest } from './render-request.ts';

/** `POST /v1/chat/completions` of OpenAI's API. */
export const openaiChat: WireTranslation = {
  parseRequest: parseChatRequest,
  renderRequest: renderChatRequest,
  parseAnswer: parseChatAnswer,
  renderAnswer: renderChatAnswer,
  eventParser: (turns) => new ChatEventParser(turns),
  eventRenderer: (context) => new ChatEventRenderer(context),
};
