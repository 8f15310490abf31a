import type { RequestBody } from './request-body.ts';

const fields = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'] as const;

/** The most tokens that a request allows for an answer: the largest of the fields, since services differ in which they heed. */
export function statedOutputTokens(body: RequestBody): number | null {
  let most: number | null = null;
  for (const name of fields) {
    const stated = body.field(name);
    if (typeof stated === 'number' && stated > 0) most = Math.max(most ?? 0, Math.ceil(stated));
  }
  return most;
}
