/** A request for embeddings, and its answer, as no single API writes them. */
import type { Losses } from '../losses.ts';

export interface EmbeddingsRequest {
  model: string;
  texts: string[];
  dimensions: number | undefined;
  /** Gemini: what the vectors are for. */
  purpose: string | undefined;
  /** As the client wants its answer: OpenAI's as base64, Gemini's for `:embedContent`. */
  form: 'numbers' | 'base64' | 'single';
}

export interface EmbeddingsAnswer {
  vectors: number[][];
  /** Null where the upstream has not told. */
  promptTokens: number | null;
}

/** What each wire for embeddings offers. */
export interface EmbeddingsWire {
  /** @throws GatewayError `invalid_value` */
  parseRequest(body: unknown, losses: Losses): EmbeddingsRequest;
  renderRequest(request: EmbeddingsRequest, model: string, losses: Losses): Record<string, unknown>;
  /** Null for what is no answer. */
  parseAnswer(body: unknown): EmbeddingsAnswer | null;
  renderAnswer(answer: EmbeddingsAnswer, request: EmbeddingsRequest): Record<string, unknown>;
}

/** Null if any of it is no number. */
export function vectorOf(value: unknown): number[] | null {
  return Array.isArray(value) && value.every((number) => typeof number === 'number') ? value : null;
}
