/** What the demo says, for every route that answers with words. */
import { isObject } from '../contract/is-object.ts';

export const introduction = "This is Sluice's built-in demo provider: no language model is behind it.";

/**
 * One short text, without anything that a coding agent could take for an edit, a path or a command: aider once wrote a
 * file from an answer that repeated its prompt.
 */
export function answerTo(messages: unknown): string {
  return `${introduction} You wrote${quoted(latestQuestion(messages))}. To get real answers, add a provider in Sluice.`;
}

/** Tokens of up to four characters, each with the white space before it. Joined, they give the text. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,4}|\s+$/gu) ?? [];
}

const charactersPerToken = 4;

/** An estimate for any part of a request. */
export function inputTokensOf(part: unknown): number {
  return Math.ceil((JSON.stringify(part) ?? '').length / charactersPerToken);
}

/** The text of the user's latest message, whose content is a text or a list of parts. */
function latestQuestion(messages: unknown): string {
  const users = Array.isArray(messages) ? messages.filter(isObject).filter(({ role }) => role === 'user') : [];
  const content = users.at(-1)?.content;
  const parts = (Array.isArray(content) ? content : [{ text: content }]).filter(isObject);
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

const maxQuotedWords = 8;
const plainWord = /^[\p{L}\p{N}][\p{L}\p{N}'’-]{0,30}[,.;:!?]?$/u;

/** The first plain words of the last line. */
function quoted(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  const words = line
    .slice(0, 1_000)
    .split(/\s+/)
    .filter((word) => plainWord.test(word));
  if (words.length === 0) return ' something';
  return `: "${words.slice(0, maxQuotedWords).join(' ')}${words.length > maxQuotedWords ? ' …' : ''}"`;
}
