import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import { anthropicErrorStatus, writeAnthropicError } from '../write-error.ts';
import { droppedBetas } from './betas.ts';
import { messagesClient } from './client.ts';
import { MessagesEventParser, messageEvents } from './parse-events.ts';
import { parseMessagesRequest } from './parse-request.ts';
import { renderMessagesAnswer } from './render-answer.ts';
import { MessagesEventRenderer } from './render-events.ts';
import { renderMessagesRequest } from './render-request.ts';
import { withoutThinking } from './without-thinking.ts';

/** `POST /v1/messages` of Anthropic's API. */
export const anthropicMessages: WireTranslation = {
  client: messagesClient,
  trial: {
    path: '/messages',
    body: ({ model, prompt, maxOutputTokens }) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: maxOutputTokens,
    }),
    answerMember: 'content',
  },
  parseRequest: parseMessagesRequest,
  renderRequest: renderMessagesRequest,
  wholeEvents: messageEvents,
  renderAnswer: renderMessagesAnswer,
  renderError: (error) => ({
    status: anthropicErrorStatus(error),
    body: writeAnthropicError(error),
  }),
  eventParser: () => new MessagesEventParser(),
  eventRenderer: (context) => new MessagesEventRenderer(context),
  headerLosses: (headers) => droppedBetas(headers['anthropic-beta']),
  withoutReasoning: withoutThinking,
};
