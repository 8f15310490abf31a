import type { DialectId } from './config.ts';

/** What people call the API of each dialect. */
export const apiNames: Readonly<Record<DialectId, string>> = {
  openai: 'OpenAI’s API',
  azure: 'Azure’s OpenAI API',
  anthropic: 'Anthropic’s API',
  gemini: 'Gemini’s API',
  bedrock: 'Bedrock’s API',
  vertex: 'Vertex AI’s API',
};
