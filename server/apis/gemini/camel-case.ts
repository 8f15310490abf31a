/** Google's APIs accept `generation_config` for `generationConfig`, because protobuf's JSON format allows both. */
import { isObject } from '../../contract/is-object.ts';

/** The contents of these fields are not Google's and stay unchanged. */
const foreign = new Set(
  'args response parameters parametersJsonSchema responseSchema responseJsonSchema labels'.split(' '),
);
/** Nothing in the API is nested more deeply. */
const maxDepth = 20;

/** The value itself if all of its names are in camel case already, as Google's own clients write them. */
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
