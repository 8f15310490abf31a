/** JSON in and out, such that numbers in a tool's arguments stay as they were written, however long. */
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';

/** JSON text that stands in what is written as it is. */
export class RawJson {
  readonly text: string;

  /** @param text has to be sound JSON */
  constructor(text: string) {
    this.text = text;
  }
}

/** What is nested more deeply is refused; no request or schema that a person or program means is. */
const maxDepth = 500;

/**
 * Like `JSON.stringify`, with `RawJson` as it is. Members that are undefined are left out.
 * @throws GatewayError `invalid_value` for what is nested too deeply
 */
export function writeJson(value: unknown, depth = 0): string {
  if (value instanceof RawJson) return value.text;
  if (depth > maxDepth)
    throw new GatewayError('invalid_value', `The body is nested more than ${maxDepth} levels deep.`);
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null, depth + 1)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  let text = '';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeJson(member, depth + 1)}`;
  }
  return `{${text}}`;
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = hasLongNumber(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A number of more digits than a double holds; a reviver costs too much where there is none. */
const longNumber = /[:,[\s]-?\d{16}/;

function hasLongNumber(text: string): boolean {
  return longNumber.test(text);
}

/** `context` is what V8 passes beyond the types of TypeScript: the source of a primitive. */
function keepNumber(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return String(value) === context.source ? value : new RawJson(context.source);
}
