/** The routes of Bedrock, which only upstream requests use; no client calls them. */

import { plainRoute, type Route } from '../core/api.ts';
import { cloudEmbeddings } from '../core/usage/conversation-usage.ts';
import { converse, converseRequest, judgeError } from './converse.ts';

/** Embeddings by InvokeModel, in the form of the model's maker. */
const bedrockEmbed = cloudEmbeddings({
  name: 'bedrock-embeddings',
  request: converseRequest,
  errorName: 'type',
  members: ['embedding', 'embeddings'],
  judge: (answer) => judgeError(answer, 'embedding' in answer || 'embeddings' in answer),
});

const whole: Route = {
  ...plainRoute,
  method: 'POST',
  wire: converse,
  path: '/model/{model}/converse',
  model: 'required',
  modelIn: 'path',
};

export const bedrockRoutes: readonly Route[] = [
  whole,
  { ...whole, wire: bedrockEmbed, path: '/model/{model}/invoke' },
  { ...whole, path: '/model/{model}/converse-stream', streamIn: 'path', stream: converse.stream, unstreamed: whole },
];
