/** Routes of Gemini's API by verb. The URL contains the model and selects streaming. */
import { plainRoute, type Route } from '../core/route.ts';
import { embedContents } from './embed.ts';
import { generateContent } from './generate.ts';
import { generateArrayStream, generateStream } from './generate-stream.ts';
import { predict } from './predict.ts';

const post = { ...plainRoute, method: 'POST', model: 'required', modelIn: 'path', streamIn: 'path' } as const;

const generate = { ...post, path: '/models/{model}:generateContent', wire: generateContent } as const;
const stream = { ...generate, path: '/models/{model}:streamGenerateContent' } as const;

export const geminiRoutes: readonly Route[] = [
  generate,
  { ...stream, stream: generateArrayStream },
  { ...stream, path: `${stream.path}?alt=sse`, stream: generateStream, unstreamed: generate },
  {
    ...post,
    path: '/models/{model}:countTokens',
    wire: generateContent,
    isFree: true,
    writeTokenCount: (tokens) => ({ totalTokens: tokens }),
  },
  { ...post, path: '/models/{model}:predict', wire: predict, purchases: 'all' },
  { ...post, path: '/models/{model}:embedContent', wire: embedContents },
  { ...post, path: '/models/{model}:batchEmbedContents', wire: embedContents },
];
