import type { IncomingBody, RawField } from '../../http/body/incoming-body.ts';
import type { InferenceRoute } from '../routes.ts';

/** How many answers a request asks for: `n`, for each prompt of completions; of a form that is text. */
export function countChoices({ capability }: InferenceRoute, body: IncomingBody): number {
  if (capability !== 'chat' && capability !== 'completions' && capability !== 'images') return 1;
  const n = Number(body.field('n'));
  const perPrompt = Number.isInteger(n) && n > 0 ? n : 1;
  return capability === 'completions' ? perPrompt * countPrompts(body.raw('prompt')) : perPrompt;
}

/** Several texts or several lists of tokens; one list of tokens is one prompt. */
function countPrompts(prompt: RawField | null): number {
  const isList = prompt !== null && prompt.bytes[0] === openingBracket;
  return isList && !beginsWithNumber(prompt.bytes) ? Math.max(1, prompt.items) : 1;
}

function beginsWithNumber(list: Buffer): boolean {
  const first = list.findIndex((byte, at) => at > 0 && byte > space);
  return '-0123456789'.includes(String.fromCharCode(list[first] ?? space));
}

const openingBracket = 0x5b;
const space = 0x20;
