/**
 * Embeddings on Vertex AI, which only upstream requests use: newer models by `:embedContent`, which takes one text,
 * others by `:predict`.
 */

import { plainRoute, type Route } from '../core/route.ts';
import { cloudEmbeddings } from '../core/usage/cloud-embeddings.ts';
import { geminiAnswer } from './generate.ts';
import { geminiRequest } from './request.ts';

const post = { ...plainRoute, method: 'POST', model: 'required', modelIn: 'path' } as const;

function embeddingsWire(name: string, member: string) {
  const { marks, judge } = geminiAnswer([member]);
  return cloudEmbeddings({ name, request: geminiRequest, errorName: 'status', marks, judge });
}

export const vertexRoutes: readonly Route[] = [
  { ...post, path: '/models/{model}:predict', wire: embeddingsWire('vertex-predict', 'predictions') },
  { ...post, path: '/models/{model}:embedContent', wire: embeddingsWire('vertex-embed-content', 'embedding') },
];
