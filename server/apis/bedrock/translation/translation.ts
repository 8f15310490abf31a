import type { UpstreamTranslation } from '../../neutral/answers/wire-translation.ts';
import { ConverseEventParser, converseEvents } from './parse-events.ts';
import { renderConverseRequest } from './render-request.ts';

/** `POST /model/{id}/converse` and `/converse-stream` of Amazon Bedrock. */
export const bedrockConverse: UpstreamTranslation = {
  trial: {
    path: '/model/{model}/converse',
    body: ({ prompt, maxOutputTokens }) => ({
      messages: [{ role: 'user', content: [{ text: prompt }] }],
      inferenceConfig: { maxTokens: maxOutputTokens },
    }),
    answerMember: 'output',
  },
  answerIdHeader: 'x-amzn-requestid',
  renderRequest: renderConverseRequest,
  wholeEvents: converseEvents,
  eventParser: () => new ConverseEventParser(),
};
