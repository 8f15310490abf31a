import type { RequestFormat, Wire } from '../wire.ts';
import { isAnySet, jsonAnswer, jsonRequest } from './formats.ts';
import { openaiErrors } from './read-error.ts';
import { responseRescue } from './rescue/rescue.ts';
import { responseStream } from './typed-stream.ts';
import { openaiUsage } from './usage/usage.ts';

const request: RequestFormat = {
  ...jsonRequest,
  isBackground: (body) => Boolean(body.field('background')),
  // A background response continues by itself; a conversation would get a second answer.
  isOneText: (body) => !isAnySet(body, 'background', 'conversation'),
};

/** `POST /v1/responses`, and requests about a stored response. */
export const responses: Wire = {
  name: 'openai-responses',
  operation: 'responses',
  request,
  errors: openaiErrors,
  usage: openaiUsage('responses', request),
  // A response may repeat long instructions and contain large images.
  whole: jsonAnswer(['"response"', '"output"', '"data"'], { isNeverLonger: false }),
  stream: responseStream,
  rescue: responseRescue,
};
