import type { InferenceRoute } from '../inference-routes.ts';
import type { IncomingBody } from './incoming-body.ts';

/** How many answers a chat or completion request asks for: `n` for each of its prompts. */
export function countChoices({ capability }: InferenceRoute, body: IncomingBody): number {
  if (capability !== 'chat' && capability !== 'completions') return 1;
  const n = body.field('n');
  const perPrompt = typeof n === 'number' && Number.isInteger(n) && n > 0 ? n : 1;
  return capability === 'completions' ? perPrompt * countPrompts(body.field('prompt')) : perPrompt;
}

/** Several texts or several lists of tokens; one list of tokens is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}
