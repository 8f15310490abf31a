import { isObject } from '../../../contract/is-object.ts';
import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import type { Conversation } from '../../neutral/conversation.ts';
import type { Losses } from '../../neutral/losses.ts';
import { parseResponsesRequest } from '../responses/parse-request.ts';
import { renderOpenaiError } from '../wire/formats.ts';
import { ChatEventParser, completionEvents } from './parse-events.ts';
import { chatClient, parseChatRequest } from './parse-request.ts';
import { ChatEventRenderer, renderChatAnswer } from './render-events.ts';
import { renderChatRequest } from './render-request.ts';

/** `POST /v1/chat/completions` of OpenAI's API. */
export const openaiChat: WireTranslation = {
  client: chatClient,
  trial: {
    path: '/chat/completions',
    body: ({ model, prompt, maxOutputTokens }) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: maxOutputTokens,
    }),
    answerMember: 'choices',
  },
  parseRequest: (body, losses) =>
    isResponsesBody(body) ? parseResponsesBody(body, losses) : parseChatRequest(body, losses),
  renderRequest: renderChatRequest,
  wholeEvents: completionEvents,
  renderAnswer: renderChatAnswer,
  renderError: renderOpenaiError,
  eventParser: (turns) => new ChatEventParser(turns),
  eventRenderer: (context) => new ChatEventRenderer(context),
};

/** Cursor sends Responses bodies to the path of chat completions, and expects chat chunks in return. */
function isResponsesBody(body: unknown): body is Record<string, unknown> {
  return isObject(body) && body.messages === undefined && body.input !== undefined;
}

function parseResponsesBody(body: Record<string, unknown>, losses: Losses): Conversation {
  const options = body.stream_options;
  const streamUsage = isObject(options) && options.include_usage === true;
  return { ...parseResponsesRequest(body, losses), client: chatClient, streamUsage };
}
