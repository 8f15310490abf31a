import type { IncomingBody } from '../../http/body/incoming-body.ts';
import type { InferenceRoute } from '../routes.ts';

/** OpenAI takes up to 128. What asks for more is refused or gets fewer, and is neither reserved nor charged beyond. */
const mostPaidChoices = 128;

/** How many answers a request asks for: `n`, for each prompt of completions; of a form that is text. */
export function countChoices({ capability }: InferenceRoute, body: IncomingBody): number {
  if (capability !== 'chat' && capability !== 'completions' && capability !== 'images') return 1;
  const perPrompt = countOf(body.field('n'));
  return capability === 'completions' ? perPrompt * countPrompts(body.field('prompt')) : perPrompt;
}

/** How many answers may have to be paid for: of completions the best of more than are sent may be chosen. */
export function countPaidChoices({ capability }: Pick<InferenceRoute, 'capability'>, body: IncomingBody): number {
  if (capability !== 'chat' && capability !== 'completions' && capability !== 'images') return 1;
  const stated = Math.min(countOf(body.field('n')), mostPaidChoices);
  if (capability !== 'completions') return stated;
  return (
    Math.max(stated, Math.min(countOf(body.field('best_of')), mostPaidChoices)) * countPrompts(body.field('prompt'))
  );
}

function countOf(value: unknown): number {
  const count = Number(value);
  return Number.isInteger(count) && count > 0 ? count : 1;
}

/** Several texts or several lists of tokens; one list of tokens is one prompt. */
function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}
