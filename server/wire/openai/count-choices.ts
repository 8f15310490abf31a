import type { IncomingBody } from '../../http/body/incoming-body.ts';
import type { InferenceRoute } from '../routes.ts';

/** How many answers a request asks for: `n`, for each prompt of completions; of a form that is text. */
export function countChoices({ capability }: InferenceRoute, body: IncomingBody): number {
  if (capability !== 'chat' && capability !== 'completions' && capability !== 'images') return 1;
  const n = Number(body.field('n'));
  const perPrompt = Number.isInteger(n) && n > 0 ? n : 1;
  return capability === 'completions' ? perPrompt * countPrompts(body.field('prompt')) : perPrompt;
}

/** Several texts or several lists of tokens; one list of tokens is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}
