/** API-neutral forms of an embeddings request and its answer. */
import type { Losses } from './losses.ts';

export interface EmbeddingsRequest {
  model: string;
  texts: string[];
  dimensions: number | undefined;
  /** Gemini's `taskType`. */
  purpose: string | undefined;
  /** Format of the client's answer: `base64` for OpenAI's `encoding_format`, `single` for Gemini's `:embedContent`. */
  form: 'numbers' | 'base64' | 'single';
}

export interface EmbeddingsAnswer {
  vectors: number[][];
  /** Null if the upstream did not report it. */
  promptTokens: number | null;
}

/** Translation functions of a wire by which providers are called. */
export interface EmbeddingsUpstream {
  /** How many texts such a model takes in one call. */
  mostTexts(model: string): number;
  /** @throws GatewayError `invalid_value` */
  renderRequest(request: EmbeddingsRequest, model: string, losses: Losses): Record<string, unknown>;
  /** Null if the body is not an answer of this API. */
  parseAnswer(body: unknown): EmbeddingsAnswer | null;
}

/** Translation functions of a wire that clients use as well. */
export interface EmbeddingsWire extends EmbeddingsUpstream {
  /** @throws GatewayError `invalid_value` */
  parseRequest(body: unknown, losses: Losses): EmbeddingsRequest;
  /** One vector as it stands in the client's list. */
  renderVector(vector: readonly number[], index: number, form: EmbeddingsRequest['form']): unknown;
  /** What the answer has before and after all vectors, as JSON. */
  renderAnswer(promptTokens: number | null, request: EmbeddingsRequest): [string, string];
}

/** Null if the value is not an array of numbers. */
export function vectorOf(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((number) => typeof number === 'number') ? value : null;
}
