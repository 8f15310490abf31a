import { statusOfError } from '../core/errors/error-names.ts';
import { errorIn } from '../core/upstream-error.ts';
import type { Verdict, WholeFormat, Wire } from '../core/wire.ts';
import { generateStream } from './generate-stream.ts';
import { type GeminiField, geminiRequest } from './request.ts';
import { geminiUsage } from './usage.ts';

/** @param members each answer has at least one of these */
export function geminiAnswer(members: readonly string[], more: Partial<WholeFormat> = {}): WholeFormat {
  return {
    kind: 'json',
    marks: members.map((name) => `"${name}"`),
    isNeverLonger: true,
    maxHeldBytes: 32 * 1024 * 1024,
    isNumbers: false,
    judge: (answer) => judge(answer, members),
    ...more,
  };
}

function judge(answer: Record<string, unknown>, members: readonly string[]): Verdict {
  const error = members.some((name) => name in answer) ? null : errorIn(answer);
  return error ? { kind: 'error', status: statusOfError(error), error } : { kind: 'answer' };
}

/**
 * `:generateContent` and `:streamGenerateContent`. The answer to a prompt that is blocked for its content has no
 * candidates.
 */
export const generateContent: Wire<GeminiField> = {
  name: 'gemini-generate',
  operation: 'chat',
  request: geminiRequest,
  whole: geminiAnswer(['candidates', 'promptFeedback', 'usageMetadata']),
  errorName: 'status',
  usage: geminiUsage,
  stream: generateStream,
  rescue: null,
};
