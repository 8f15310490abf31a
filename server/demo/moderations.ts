/** `POST /moderations`: nothing is ever flagged. */
import type { Call } from './call.ts';
import { missingParameter } from './demo-error.ts';
import { newId } from './ids.ts';
import { modelOf } from './models.ts';
import { json, type Reply } from './reply.ts';
import type { Route } from './route.ts';

const SCORE = 0.0001;

const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
];

export function createModerationRoutes(): Route[] {
  return [{ method: 'POST', path: '/moderations', handle: moderate }];
}

/** One result per string; the parts of one message (text and pictures) have a single result. */
async function moderate(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  const model = modelOf(parameters, 'moderations');
  const input = parameters.raw('input');
  if (input === undefined) throw missingParameter('input');
  const isListOfTexts = Array.isArray(input) && input.every((item) => typeof item === 'string');
  const result = {
    flagged: false,
    categories: forEachCategory(false),
    category_scores: forEachCategory(SCORE),
    category_applied_input_types: forEachCategory(['text']),
  };
  const results = Array.from({ length: isListOfTexts ? input.length : 1 }, () => result);
  return json({ id: newId('modr-'), model, results });
}

function forEachCategory<Value>(value: Value): Record<string, Value> {
  return Object.fromEntries(categories.map((name) => [name, value]));
}
