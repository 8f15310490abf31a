import type { RequestFormat, Wire } from '../wire.ts';
import { isAnySet, jsonAnswer, jsonRequest } from './formats.ts';
import { openaiErrors } from './read-error.ts';
import { responseRescue } from './rescue/rescue.ts';
import { responseStream } from './typed-stream.ts';
import { openaiUsage } from './usage/usage.ts';

const request: RequestFormat = {
  ...jsonRequest,
  isBackground: (body) => Boolean(body.field('background')),
  // In the background it goes on by itself; a conversation would get a second answer as well.
  isOneText: (body) => !isAnySet(body, 'background', 'conversation'),
};

/** `POST /v1/responses`, and what is asked of a stored one. */
export const responses: Wire = {
  name: 'openai-responses',
  operation: 'responses',
  request,
  errors: openaiErrors,
  usage: openaiUsage('responses', request),
  // The instructions that a response repeats may be long, and so may the pictures that it has drawn.
  whole: jsonAnswer(['"response"', '"output"', '"data"'], { isNeverLonger: false }),
  stream: responseStream,
  rescue: responseRescue,
};
