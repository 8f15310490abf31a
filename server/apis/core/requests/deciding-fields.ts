import { boundedPattern } from '../../../ground/bounded-pattern.ts';

/**
 * The request fields that determine admission, routing and cost. Sluice and the upstream must read them alike, whatever
 * parser the upstream uses.
 */
const decidingFields: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'background',
  'store',
  'previous_response_id',
  'seconds',
  'size',
  'quality',
]);

/** No parser maps a longer name to one of these. */
const maxNameLength = 200;

/**
 * The deciding field that some parser may read `name` as: frameworks ignore case, treat `model[]` as a list of `model`,
 * or decode escapes that others leave alone. Null if there is none.
 */
export function decidingField(name: string): string | null {
  if (decidingFields.has(name)) return name;
  if (name.length > maxNameLength) return null;
  const bracket = name.indexOf('[');
  const normalized = (bracket > 0 ? name.slice(0, bracket) : name)
    .replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/[\\"'\s\0]/g, '')
    // Through upper case, since some non-ASCII letters map to ASCII ones: `ſ` becomes `S`.
    .toUpperCase()
    .toLowerCase();
  return decidingFields.has(normalized) ? normalized : null;
}

const yes = boundedPattern(/^(?:true|1|yes|on)$/i);
const no = boundedPattern(/^(?:false|0|no|off)$/i);

/**
 * What the field `stream` of a request says, in a form or in JSON. Lenient parsers, such as pydantic's in FastAPI and
 * vLLM, accept a number or a word for `true`. Undefined for what none of them accepts.
 */
export function readStreamFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (yes.test(text)) return true;
  return no.test(text) ? false : undefined;
}
