/** API-neutral forms of an embeddings request and its answer. */
import type { Losses } from '../losses.ts';

export interface EmbeddingsRequest {
  model: string;
  texts: string[];
  dimensions: number | undefined;
  /** Gemini's `taskType`. */
  purpose: string | undefined;
  /** Form of the client's answer: `base64` for OpenAI's `encoding_format`, `single` for Gemini's `:embedContent`. */
  form: 'numbers' | 'base64' | 'single';
}

export interface EmbeddingsAnswer {
  vectors: number[][];
  /** Null if the upstream did not report it. */
  promptTokens: number | null;
}

/** Translation functions of an embeddings wire. */
export interface EmbeddingsWire {
  /** @throws GatewayError `invalid_value` */
  parseRequest(body: unknown, losses: Losses): EmbeddingsRequest;
  renderRequest(request: EmbeddingsRequest, model: string, losses: Losses): Record<string, unknown>;
  /** Null if the body is not an answer of this API. */
  parseAnswer(body: unknown): EmbeddingsAnswer | null;
  renderAnswer(answer: EmbeddingsAnswer, request: EmbeddingsRequest): Record<string, unknown>;
}

/** Null if the value is not an array of numbers. */
export function vectorOf(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((number) => typeof number === 'number') ? value : null;
}
