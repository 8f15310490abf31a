/** `POST /moderations`: a word list stands in for a classifier, so the same text always gets the same scores. */
import { isObject } from '../contract/is-object.ts';
import type { Call } from './call.ts';
import { invalidType, missingParameter } from './demo-error.ts';
import { digest, newId } from './ids.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { json, type Reply } from './reply.ts';
import type { Route } from './route.ts';

const FLAGGED_FROM = 0.5;
const FLAGGED_SCORE = 0.98;

/** The thirteen categories, with the words that flag them; those that OpenAI also applies to pictures say so. */
const categories: Readonly<Record<string, { words: RegExp; seesImages?: true }>> = {
  harassment: { words: /\b(idiot|loser|moron)s?\b/i },
  'harassment/threatening': { words: /\b(hurt|beat) you\b/i },
  hate: { words: /\b(hate|despise) (them|those|these|all)\b/i },
  'hate/threatening': { words: /\b(kill|hurt) (them all|those people)\b/i },
  illicit: { words: /\b(steal|forge|launder)\b/i },
  'illicit/violent': { words: /\bbuild a bomb\b/i },
  'self-harm': { words: /\b(self-harm|suicide)\b/i, seesImages: true },
  'self-harm/intent': { words: /\b(kill|hurt|cut) myself\b/i, seesImages: true },
  'self-harm/instructions': { words: /\bhow to (self-harm|commit suicide)\b/i, seesImages: true },
  sexual: { words: /\b(porn|erotic)/i, seesImages: true },
  'sexual/minors': { words: /\bsexual\w* (minor|child)/i },
  violence: { words: /\b(kill|murder|stab|shoot|bomb)/i, seesImages: true },
  'violence/graphic': { words: /\b(gore|dismember|behead)/i, seesImages: true },
};

interface ModerationInput {
  text: string;
  hasImage: boolean;
}

export function createModerationRoutes(): Route[] {
  return [{ method: 'POST', path: '/moderations', handle: moderate }];
}

async function moderate(call: Call): Promise<Reply> {
  const parameters = await call.parameters();
  const model = modelOf(parameters, 'moderations');
  return json({ id: newId('modr-'), model, results: readInputs(parameters).map(judge) });
}

/** Strings are judged one by one; parts of one message (text and pictures) together. */
function readInputs(parameters: Parameters): ModerationInput[] {
  const input = parameters.raw('input');
  if (input === undefined) throw missingParameter('input');
  if (typeof input === 'string') return [{ text: input, hasImage: false }];
  if (!Array.isArray(input)) throw invalidType('input', 'a string or an array');
  if (input.every((item) => typeof item === 'string')) return input.map((text) => ({ text, hasImage: false }));
  const parts = input.map((part: unknown, index) => {
    if (isObject(part) && part.type === 'image_url') return { text: '', hasImage: true };
    if (isObject(part) && typeof part.text === 'string') return { text: part.text, hasImage: false };
    throw invalidType(`input[${index}]`, 'a part of type text or image_url');
  });
  return [{ text: parts.map((part) => part.text).join('\n'), hasImage: parts.some((part) => part.hasImage) }];
}

function judge({ text, hasImage }: ModerationInput) {
  const names = Object.entries(categories);
  const scores = names.map(
    ([name, { words }]) => [name, words.test(text) ? FLAGGED_SCORE : lowScore(name, text)] as const,
  );
  const flags = scores.map(([name, score]) => [name, score >= FLAGGED_FROM] as const);
  const types = names.map(([name, { seesImages }]) => [name, hasImage && seesImages ? ['text', 'image'] : ['text']]);
  return {
    flagged: flags.some(([, isFlagged]) => isFlagged),
    categories: Object.fromEntries(flags),
    category_scores: Object.fromEntries(scores),
    category_applied_input_types: Object.fromEntries(types),
  };
}

/** Below 0.001, and different from text to text, as real scores are. */
function lowScore(category: string, text: string): number {
  return digest(category, text).readUInt16BE() / 0xffff / 1000;
}
