import type { Wire } from '../core/wire.ts';
import { openaiUsage } from './usage/usage.ts';
import { type CommonField, jsonAnswer, jsonRequest, longList } from './wire/formats.ts';
import { openaiErrors } from './wire/read-error.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Wire<CommonField> = {
  name: 'openai-embeddings',
  operation: 'embeddings',
  request: jsonRequest,
  errors: openaiErrors,
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
  errors: openaiErrors,
  usage: openaiUsage('moderations', jsonRequest),
  whole: jsonAnswer(['"results"']),
  stream: null,
  rescue: null,
};
