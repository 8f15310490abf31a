import type { WireTranslation } from '../../neutral/answers/wire-translation.ts';
import { geminiErrorStatus, writeGeminiError } from '../write-error.ts';
import { GenerateEventParser, generateEvents } from './parse-events.ts';
import { generateClient, parseGenerateRequest } from './parse-request.ts';
import { GenerateEventRenderer, renderGenerateAnswer } from './render-events.ts';
import { renderGenerateRequest } from './render-request.ts';

/** `:generateContent` and `:streamGenerateContent` of Gemini's API. */
export const geminiGenerate: WireTranslation = {
  client: generateClient,
  trial: {
    path: '/models/{model}:generateContent',
    body: ({ prompt, maxOutputTokens }) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { maxOutputTokens },
    }),
    answerMember: 'candidates',
  },
  parseRequest: parseGenerateRequest,
  renderRequest: renderGenerateRequest,
  wholeEvents: generateEvents,
  renderAnswer: renderGenerateAnswer,
  renderError: (error) => ({ status: geminiErrorStatus(error), body: writeGeminiError(error) }),
  eventParser: (turns) => new GenerateEventParser(turns),
  eventRenderer: (context) => new GenerateEventRenderer(context),
};
