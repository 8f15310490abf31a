import type { Wire } from '../core/wire.ts';
import { openaiUsage } from './usage/usage.ts';
import { type CommonField, jsonAnswer, jsonRequest, longList } from './wire/formats.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Wire<CommonField> = {
  name: 'openai-embeddings',
  operation: 'embeddings',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('embeddings', jsonRequest),
  whole: jsonAnswer(['"embedding"'], { ...longList, isNumbers: true }),
  stream: null,
  rescue: null,
};

/** `POST /v1/moderations`. */
export const moderations: Wire<CommonField> = {
  name: 'openai-moderations',
  operation: 'moderations',
  request: jsonRequest,
  errorName: 'code',
  usage: openaiUsage('moderations', jsonRequest),
  whole: jsonAnswer(['"results"']),
  stream: null,
  rescue: null,
};
