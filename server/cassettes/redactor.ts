/** Removes secrets before storing: known secrets, texts in the form of a key, and the patterns of `cassette.json`. */
import { secretShape } from '../contract/secret-shape.ts';
import { findSecrets, mayHoldSecret, mergeRanges } from '../exchange/redact/find-secrets.ts';
import { redactBytes } from '../exchange/redact/redact-credential.ts';
import { redactHeaders, redactUrl } from '../exchange/redact/redact-headers.ts';
import { findAll, replaceRanges, type TextRange } from './bounded-search.ts';
import { type LinearPattern, SlowPattern } from './linear-pattern.ts';

export const redactionMark = '[redacted]';

export class Redactor {
  readonly #secrets: readonly string[];
  readonly #patterns: readonly LinearPattern[];

  constructor(secrets: readonly string[], patterns: readonly LinearPattern[]) {
    this.#secrets = secrets;
    this.#patterns = patterns;
  }

  text(text: string): string {
    return replaceRanges(text, this.find(text), redactionMark);
  }

  /** Redacts all strings and member names of a JSON value; returns the same value if there is nothing to remove. */
  json(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.json(item));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const members = Object.entries(value);
    const redactedMembers = members.map(([name, item]): [string, unknown] => [this.text(name), this.json(item)]);
    const isSame = redactedMembers.every(([name, item], at) => name === members[at]?.[0] && item === members[at][1]);
    return isSame ? value : Object.fromEntries(redactedMembers);
  }

  /** Redacts bytes that are not text, in which only known secrets can be found. */
  bytes(bytes: Buffer): Buffer {
    return redactBytes(bytes, this.#secrets);
  }

  /** Redacts a path with its query. */
  url(url: string): string {
    return this.text(redactUrl(url, this.#secrets));
  }

  header(name: string, value: string): string {
    const [[, redacted] = [name, redactionMark]] = redactHeaders({ [name]: value }, this.#secrets);
    return this.text(redacted);
  }

  /** The ranges of secrets, in order and without overlaps. */
  find(text: string): TextRange[] {
    const shaped = [...findAll(text, secretShape), ...this.#findByPatterns(text)];
    const secretRanges = mayHoldSecret(text, this.#secrets)
      ? textRanges(text, findSecrets(Buffer.from(text), this.#secrets))
      : [];
    return secretRanges.length + shaped.length === 0 ? shaped : mergeRanges([...secretRanges, ...shaped]);
  }

  /** Where a pattern takes too many steps, the whole text, so that nothing is stored that should not be. */
  #findByPatterns(text: string): TextRange[] {
    try {
      return this.#patterns.flatMap((each) => each.findAll(text));
    } catch (error) {
      if (error instanceof SlowPattern) return [{ start: 0, end: text.length }];
      throw error;
    }
  }
}

/** Converts ranges of UTF-8 bytes to ranges of characters. */
function textRanges(text: string, ranges: readonly TextRange[]): TextRange[] {
  const bytes = Buffer.from(text);
  if (bytes.length === text.length) return [...ranges];
  return ranges.map(({ start, end }) => {
    const textStart = bytes.toString('utf8', 0, start).length;
    return { start: textStart, end: textStart + bytes.toString('utf8', start, end).length };
  });
}
