/** Reads and writes JSON so that integers in a tool's arguments keep all their digits. */
import { GatewayError } from '../../contract/errors.ts';

/** JSON text that is written unchanged. */
export class RawJson {
  readonly text: string;

  /** @param text valid JSON */
  constructor(text: string) {
    this.text = text;
  }
}

/** Deeper nesting is refused; no legitimate request, schema or answer has it. */
const maxReadDepth = 400;

/** What is written adds a few levels to what was read. */
const maxDepth = 500;

/**
 * Like `JSON.stringify`, but writes `RawJson` unchanged. Members that are undefined are omitted.
 * @throws GatewayError `invalid_value` for nesting beyond the limit
 */
export function writeJson(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (value instanceof RawJson) return value.text;
  if (depth > maxDepth) throw tooDeep(maxDepth);
  return Array.isArray(value) ? writeList(value, depth + 1) : writeMembers(Object.entries(value), depth + 1);
}

function writeList(list: readonly unknown[], depth: number): string {
  let text = '';
  for (const item of list) text += `${text === '' ? '' : ','}${writeJson(item ?? null, depth)}`;
  return `[${text}]`;
}

function writeMembers(members: readonly [string, unknown][], depth: number): string {
  let text = '';
  for (const [name, member] of members) {
    if (member !== undefined) text += `${text === '' ? '"' : ',"'}${inQuotes(name)}:${writeJson(member, depth)}`;
  }
  return `{${text}}`;
}

/** Nearly all names are those of the APIs, which need no escapes. */
function inQuotes(name: string): string {
  return plainName.test(name) ? `${name}"` : JSON.stringify(name).slice(1);
}

const plainName = /^\w{1,40}$/;

/** Whether a value is nested deeper than what may be read, so that it could not be written again. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > maxReadDepth) return true;
  for (const member of Object.values(value)) if (isTooDeep(member, depth + 1)) return true;
  return false;
}

/** @throws GatewayError `invalid_value` for nesting beyond the limit */
export function refuseTooDeep(value: unknown): void {
  if (isTooDeep(value)) throw tooDeep(maxReadDepth);
}

function tooDeep(levels: number): GatewayError {
  return new GatewayError('invalid_value', `The body is nested more than ${levels} levels deep.`);
}

/** Undefined if the text is not JSON. */
export function parseLosslessJson(text: string): unknown {
  try {
    const value: unknown = hasLongNumber(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Finds integers with more digits than a double can hold. A reviver is too slow to be used unnecessarily. */
const longNumber = /[:,[\s]-?\d{16}/;

function hasLongNumber(text: string): boolean {
  return longNumber.test(text);
}

/** `context`, which TypeScript's types lack, is passed by V8 and contains the source of a primitive. */
function keepNumber(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return String(value) === context.source ? value : new RawJson(context.source);
}
