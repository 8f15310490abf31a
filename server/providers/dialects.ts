import { anthropicDialect } from '../apis/anthropic/provider/dialect.ts';
import { bedrockDialect } from '../apis/bedrock/provider/bedrock.ts';
import type { Dialect } from '../apis/core/dialects/dialect.ts';
import { geminiDialect } from '../apis/gemini/provider/dialect.ts';
import { vertexDialect } from '../apis/gemini/vertex/vertex.ts';
import { azureDialect, openaiDialect } from '../apis/openai/provider/dialect.ts';
import type { DialectId } from '../contract/config.ts';

export const dialects: Record<DialectId, Dialect> = {
  openai: openaiDialect,
  azure: azureDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  bedrock: bedrockDialect,
  vertex: vertexDialect,
};
