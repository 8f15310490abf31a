import type { RequestFormat, Wire } from '../core/wire.ts';
import { responseRescue } from './rescue/rescue.ts';
import { openaiUsage } from './usage/usage.ts';
import { isAnySet, jsonAnswer, jsonRequest } from './wire/formats.ts';
import { responseStream } from './wire/streams.ts';

const fields = [...jsonRequest.fields, 'background'] as const;

type ResponseField = (typeof fields)[number];

const request: RequestFormat<ResponseField> = {
  ...jsonRequest,
  fields,
  isBackground: (body) => Boolean(body.field('background')),
  // A background response continues by itself; a conversation would get a second answer.
  isOneText: (body) => !isAnySet(body, 'background', 'conversation'),
};

/** `POST /v1/responses`, and requests about a stored response. */
export const responses: Wire<ResponseField> = {
  name: 'openai-responses',
  operation: 'responses',
  request,
  errorName: 'code',
  usage: openaiUsage('responses', request),
  // A response may repeat long instructions and contain large images.
  whole: jsonAnswer(['response', 'output', 'data'], { isNeverLonger: false }),
  stream: responseStream,
  rescue: responseRescue,
};
