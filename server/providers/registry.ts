import type { DialectId } from '../contract/config.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { azure } from './azure/azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini/gemini.ts';
import { openai } from './openai/openai.ts';
import { vertex } from './vertex/vertex.ts';

export const dialects: Record<DialectId, Dialect> = {
  openai,
  azure,
  anthropic,
  gemini,
  bedrock,
  vertex,
};
