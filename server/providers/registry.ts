import { anthropic } from '../apis/anthropic/provider/dialect.ts';
import { bedrock } from '../apis/bedrock/provider/bedrock.ts';
import type { Dialect } from '../apis/core/dialects/dialect.ts';
import { gemini } from '../apis/gemini/provider/dialect.ts';
import { vertex } from '../apis/gemini/vertex/vertex.ts';
import { azure } from '../apis/openai/provider/azure.ts';
import { openai } from '../apis/openai/provider/dialect.ts';
import type { DialectId } from '../contract/config.ts';

export const dialects: Record<DialectId, Dialect> = {
  openai,
  azure,
  anthropic,
  gemini,
  bedrock,
  vertex,
};
