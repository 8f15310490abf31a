import type { Rendering } from './rendering.ts';

/** Reports fields as dropped for which neither Anthropic's Messages API nor Bedrock's Converse has an equivalent. */
export function dropHints(rendering: Rendering): void {
  const { sampling, verbosity, metadata, cacheKey, serviceTier } = rendering.conversation;
  rendering.drop('seed', sampling.seed, 'no-equal');
  rendering.drop('presencePenalty', sampling.presencePenalty || undefined, 'no-equal');
  rendering.drop('frequencyPenalty', sampling.frequencyPenalty || undefined, 'no-equal');
  rendering.drop('logprobs', sampling.logprobs || sampling.topLogprobs || undefined, 'no-equal');
  rendering.drop('logitBias', sampling.logitBias, 'no-equal');
  rendering.drop('verbosity', verbosity, 'no-equal');
  rendering.drop('metadata', metadata, 'no-equal');
  rendering.drop('cacheKey', cacheKey, 'no-equal');
  const isTier = serviceTier === undefined || serviceTier === 'auto' || serviceTier === 'default';
  rendering.drop('serviceTier', isTier ? undefined : serviceTier, 'no-equal');
}
