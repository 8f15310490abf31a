import type { Wire } from '../wire.ts';
import { jsonAnswer, jsonRequest, longList } from './formats.ts';
import { openaiErrors } from './read-error.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Wire = {
  name: 'openai-embeddings',
  operation: 'embeddings',
  errors: openaiErrors,
  request: jsonRequest,
  whole: jsonAnswer(['"embedding"'], { ...longList, isNumbers: true }),
  stream: null,
};

/** `POST /v1/moderations`. */
export const moderations: Wire = {
  name: 'openai-moderations',
  operation: 'moderations',
  errors: openaiErrors,
  request: jsonRequest,
  whole: jsonAnswer(['"results"']),
  stream: null,
};
