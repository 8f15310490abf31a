/** Gemini's API as clients of `:generateContent` use it. */
import type { ClientApi } from '../../neutral/client-api.ts';

const schema = { type: 'object', properties: { path: { type: 'string' } } };

export const generateClient: ClientApi = {
  wire: 'gemini-generate',
  fieldNames: {
    temperature: 'generationConfig.temperature',
    topP: 'generationConfig.topP',
    topK: 'generationConfig.topK',
    seed: 'generationConfig.seed',
    presencePenalty: 'generationConfig.presencePenalty',
    frequencyPenalty: 'generationConfig.frequencyPenalty',
    answers: 'generationConfig.candidateCount',
    logprobs: 'generationConfig.responseLogprobs',
    maxOutputTokens: 'generationConfig.maxOutputTokens',
    stopSequences: 'generationConfig.stopSequences',
    format: 'generationConfig.responseMimeType',
    reasoning: 'generationConfig.thinkingConfig',
    toolChoice: 'toolConfig.functionCallingConfig',
    serviceTier: 'serviceTier',
    messages: 'contents',
  },
  callIds: 'any',
  hasSealedCalls: true,
  takesLateSeals: true,
  callMark: 'functionCall',
  resultId: 'id',
  hasRefusals: false,
  hasCitations: true,
  wantsWholeArguments: true,
  specimen: {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    tools: [{ functionDeclarations: [{ name: 'read', parameters: schema }] }, { googleSearch: {} }],
    generationConfig: {
      maxOutputTokens: 1_000,
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 1,
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [],
  },
};
