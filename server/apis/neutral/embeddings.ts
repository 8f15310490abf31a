/** API-neutral forms of an embeddings request and its answer. */
import { invalid, type Losses } from './losses.ts';

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
  /** @throws GatewayError `invalid_value` */
  renderRequest(request: EmbeddingsRequest, model: string, losses: Losses): Record<string, unknown>;
  /** Null if the body is not an answer of this API. */
  parseAnswer(body: unknown): EmbeddingsAnswer | null;
}

/** Translation functions of a wire that clients use as well. */
export interface EmbeddingsWire extends EmbeddingsUpstream {
  /** @throws GatewayError `invalid_value` */
  parseRequest(body: unknown, losses: Losses): EmbeddingsRequest;
  renderAnswer(answer: EmbeddingsAnswer, request: EmbeddingsRequest): Record<string, unknown>;
}

/** Null if the value is not an array of numbers. */
export function vectorOf(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((number) => typeof number === 'number') ? value : null;
}

/** @throws GatewayError `invalid_value` for more texts than the model accepts at a time */
export function checkCount({ texts, form }: EmbeddingsRequest, maxTexts: number): void {
  if (texts.length <= maxTexts) return;
  const accepted = maxTexts === 1 ? 'one text' : `at most ${maxTexts} texts`;
  invalid(form === 'single' ? 'content' : 'input', `this model accepts ${accepted} at a time`);
}
