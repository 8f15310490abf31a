/** What requests of Gemini's API ask for. */
import { isObject } from '../../contract/is-object.ts';
import { conversationFields, conversationOf, sessionFields } from '../core/requests/client-session.ts';
import { numberOf } from '../core/usage/reported-usage.ts';
import type { RequestFormat, RequestView } from '../core/wire.ts';

const ownFields = ['generationConfig', 'generation_config', 'serviceTier', 'service_tier'] as const;
const fields = [...conversationFields, ...sessionFields, ...ownFields] as const;

export type GeminiField = (typeof fields)[number];

export const geminiRequest: RequestFormat<GeminiField> = {
  fields,
  answersAsked: () => 1,
  answersPaid: candidatesOf,
  isTextAsked: () => false,
  isOneText: () => false,
  isBackground: () => false,
  wantsUsage: () => true,
  conversationOf,
  temperatureOf: ({ generationConfig, generation_config }) =>
    configIn(generationConfig ?? generation_config).temperature,
  supportsPrefill: false,
  // Google's own examples have them: `chat.sh`, `controlled_generation.sh`.
  takesTrailingCommas: true,
};

type Config = Readonly<Record<string, unknown>>;

const unset: Config = {};

function configIn(value: unknown): Config {
  const config = inCamelCase(value);
  return isObject(config) ? config : unset;
}

/** Google accepts both spellings of the field, and of its members. */
function configOf(body: RequestView<GeminiField>): Config {
  return configIn(body.field('generationConfig') ?? body.field('generation_config'));
}

/** The most tokens of each answer; null if the request sets no limit. */
export function outputLimitOf(body: RequestView<GeminiField>): number | null {
  const limit = numberOf(configOf(body).maxOutputTokens);
  return limit > 0 && Number.isFinite(limit) ? Math.ceil(limit) : null;
}

export function asksForSpeech(body: RequestView<GeminiField>): boolean {
  const { responseModalities: kinds, speechConfig } = configOf(body);
  const isAsked =
    Array.isArray(kinds) && kinds.some((kind) => typeof kind === 'string' && kind.toUpperCase() === 'AUDIO');
  return isAsked || speechConfig !== undefined;
}

/** Google's limit for `candidateCount`. */
const maxCandidates = 8;

function candidatesOf(body: RequestView<GeminiField>): number {
  const count = numberOf(configOf(body).candidateCount ?? 1);
  return count >= 1 ? Math.min(Math.floor(count), maxCandidates) : 1;
}

/** The contents of these fields are not Google's and stay unchanged. */
const foreign = new Set(
  'args response parameters parametersJsonSchema responseSchema responseJsonSchema labels'.split(' '),
);
/** Nothing in the API is nested more deeply. */
const maxDepth = 20;

/**
 * Google's APIs accept `generation_config` for `generationConfig`, because protobuf's JSON format allows both.
 *
 * The value itself if all of its names are in camel case already, as Google's own clients write them.
 */
export function inCamelCase(value: unknown): unknown {
  return hasOtherNames(value, 0) ? renamed(value, 0) : value;
}

function hasOtherNames(value: unknown, depth: number): boolean {
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) return value.some((item) => hasOtherNames(item, depth + 1));
  if (!isObject(value)) return false;
  for (const name in value) {
    if (name.includes('_')) return true;
    if (!foreign.has(name) && hasOtherNames(value[name], depth + 1)) return true;
  }
  return false;
}

function renamed(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    const name = camel(key);
    return [name, foreign.has(name) ? member : renamed(member, depth + 1)];
  });
  return Object.fromEntries(entries);
}

export function camel(name: string): string {
  if (!name.includes('_')) return name;
  const [first = '', ...rest] = name.split('_');
  return first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
