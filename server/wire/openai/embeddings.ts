import type { Wire } from '../wire.ts';
import { jsonAnswer, jsonRequest, longList } from './formats.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Wire = {
  name: 'openai-embeddings',
  operation: 'embeddings',
  request: jsonRequest,
  whole: jsonAnswer(['"embedding"'], { ...longList, isNumbers: true }),
  stream: null,
};

/** `POST /v1/moderations`. */
export const moderations: Wire = {
  name: 'openai-moderations',
  operation: 'moderations',
  request: jsonRequest,
  whole: jsonAnswer(['"results"']),
  stream: null,
};
