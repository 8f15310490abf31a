/**
 * JSON mode: finds the schema of the answer in the prompt, where clients put it for services without structured
 * outputs.
 */
import { isObject } from '../contract/is-object.ts';

/** The answer in JSON mode if there is no schema. */
export const anyObject = {
  type: 'object',
  properties: {
    message: { const: "This is Sluice's demo provider; it answers any request for JSON with this object." },
  },
};

/** Maximum number of object beginnings that are tried. */
const maxTries = 50;
const longestText = 256 * 1024;

/** The first JSON schema of an object in the texts, searching the newest text first; undefined if there is none. */
export function schemaInPrompt(turns: readonly { text: string }[]): unknown {
  for (const { text } of turns.toReversed()) {
    const found = schemaIn(text.slice(0, longestText));
    if (found !== undefined) return found;
  }
  return undefined;
}

function schemaIn(text: string): unknown {
  let from = text.indexOf('{');
  for (let tries = 0; from !== -1 && tries < maxTries; tries++) {
    const end = endOfObject(text, from);
    const value = end === -1 ? undefined : parsed(text.slice(from, end));
    if (isObject(value) && (value.type === 'object' || isObject(value.properties))) return value;
    if (isObject(value) && isObject(value.schema)) return value.schema;
    from = text.indexOf('{', value === undefined ? from + 1 : end);
  }
  return undefined;
}

/** Offset after the brace that closes the one at `from`; -1 if there is none. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"') isInString = !isInString;
    else if (!isInString && character === '{') depth++;
    else if (!isInString && character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
