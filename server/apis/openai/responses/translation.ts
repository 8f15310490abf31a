import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import { renderOpenaiError } from '../wire/formats.ts';
import { ResponsesEventParser, responseEvents } from './parse-events.ts';
import { parseResponsesRequest, responsesClient } from './parse-request.ts';
import { ResponsesEventRenderer, renderResponsesAnswer } from './render-events.ts';
import { renderResponsesRequest } from './render-request.ts';

/** `POST /v1/responses` of OpenAI's API. */
export const openaiResponses: WireTranslation = {
  client: responsesClient,
  trial: {
    path: '/responses',
    body: ({ model, prompt, maxOutputTokens }) => ({
      model,
      input: prompt,
      max_output_tokens: maxOutputTokens,
      store: false,
    }),
    answerMember: 'output',
  },
  parseRequest: parseResponsesRequest,
  renderRequest: renderResponsesRequest,
  wholeEvents: responseEvents,
  renderAnswer: renderResponsesAnswer,
  renderError: renderOpenaiError,
  eventParser: () => new ResponsesEventParser(),
  eventRenderer: (context) => new ResponsesEventRenderer(context),
};
