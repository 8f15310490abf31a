/** `cassette.json`, written by people: what is not compared, and what is not stored. */
import { z } from 'zod';
import { LinearPattern, UnsupportedPattern } from './linear-pattern.ts';

const maxPatterns = 100;
const maxPatternLength = 500;

/** A path in a JSON body, of names and `*`, which stands for any name or index: `messages.*.id`. */
const pathSchema = z.string().min(1).max(500);

const patternSchema = z
  .string()
  .min(1)
  .max(maxPatternLength)
  .superRefine((source, context) => {
    const message = faultOf(source);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

export const cassetteSettingsSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  /** Fields of JSON bodies and forms that are not compared, in addition to `ignoredByDefault`. */
  ignore: z.array(pathSchema).max(1_000).default([]),
  /** Fields of `ignoredByDefault` that are compared. */
  compare: z.array(pathSchema).max(1_000).default([]),
  /** Parts of texts that are not compared, in addition to dates and UUIDs. */
  ignoreText: z.array(patternSchema).max(maxPatterns).default([]),
  /** Parts of texts that are replaced by `[redacted]` before anything is stored. */
  redact: z.array(patternSchema).max(maxPatterns).default([]),
});

export type CassetteSettings = z.infer<typeof cassetteSettingsSchema>;

export const defaultCassetteSettings: CassetteSettings = cassetteSettingsSchema.parse({ version: 1 });

/**
 * Fields that name a user, a session or an attempt and do not change the answer. Claude Code sends the session in
 * `metadata`, Codex in `prompt_cache_key` and `client_metadata`.
 */
export const ignoredByDefault: readonly string[] = [
  'user',
  'metadata',
  'client_metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
];

/** Why a pattern cannot be used; null if it can. */
function faultOf(source: string): string | null {
  try {
    new LinearPattern(source);
    return null;
  } catch (error) {
    const isLimit = error instanceof UnsupportedPattern;
    return isLimit ? `cannot be matched in linear time: ${error.message}` : 'not a regular expression of JavaScript';
  }
}
