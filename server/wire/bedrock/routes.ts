/** The routes of Bedrock's Converse API, on which providers are asked and which no client calls. */
import { plainRoute, type Route } from '../route.ts';
import { converse } from './converse.ts';

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
  { ...whole, path: '/model/{model}/converse-stream', streamIn: 'path', stream: converse.stream, unstreamed: whole },
];
