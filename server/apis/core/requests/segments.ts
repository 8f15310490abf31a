/** Segments of a path, which are split before `%2F` is decoded. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';

/** Keeps a stray `%`. */
export function decodeSegment(segment: string): string {
  return decoded(segment) ?? segment;
}

/** Null if an escape is incomplete, or if the escaped bytes are not UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Whether a path or a part of it can be decoded. */
export function isDecodable(path: string): boolean {
  return !path.includes('%') || decoded(path) !== null;
}

/** Control, format and unassigned characters, lone surrogates, blanks, and all that separates parts of a URL. */
const separating = boundedPattern(/[\p{C}\p{Z}/\\?#%;]/u);
/** A word of an API, such as `files` or `cancel`, rather than an id. */
const word = boundedPattern(/^[A-Za-z_-]+$/);
const visible = boundedPattern(/^[!-~]*$/);
/** The longest id in a path that is passed on; within what a pattern reads. */
const maxIdLength = 1_000;

/**
 * Whether all servers read a segment in the same way. Starlette (LiteLLM, vLLM) decodes a path before it splits it, nginx
 * before it resolves dots; Tomcat cuts a segment at `;`; others trim blanks or normalise Unicode. There, a name that is
 * unknown to Sluice would become the id of another group's object, or the name of an action.
 */
export function isUnambiguousSegment(segment: string): boolean {
  const name = decoded(segment);
  if (name === null || segment.length > maxIdLength || !visible.test(segment)) return false;
  if (name !== segment && word.test(name)) return false;
  return name !== '.' && name !== '..' && !separating.test(name) && name.normalize('NFKC') === name;
}

/** Replaces the segment at `index` with `value`, encoded. */
export function withSegment(path: string, index: number, value: string): string {
  return path.split('/').with(index, encodeURIComponent(value)).join('/');
}

const aroundVersion = boundedPattern(/^\/{1,9}(?:(?:v1|v1beta|v1alpha|openai|upload)\/{1,9}){0,6}/);
/** A model's name may contain anything, also doubled slashes. */
const beforeModel = boundedPattern(/^.{0,500}?\/(?:models|tunedModels|deployments)\/{1,9}/);

/** The path with single slashes, as far as it names no model. */
export function withoutDoubledSlashes(path: string): string {
  const [beginning = path] = beforeModel.exec(path) ?? [];
  return withSingleSlashes(beginning) + path.slice(beginning.length);
}

/** The same for its beginning alone, where a base URL and the path of a client are joined. */
export function withoutDoubledSlashesBefore(path: string): string {
  const [beginning = ''] = aroundVersion.exec(path) ?? [];
  return withSingleSlashes(beginning) + path.slice(beginning.length);
}

function withSingleSlashes(path: string): string {
  const segments = path.split('/').filter((segment, index, all) => segment !== '' || index === all.length - 1);
  return `/${segments.join('/')}`;
}

const maxDepth = 4;
const dotSegment = /(?:^|[/\\])\.{1,2}(?:$|[/\\;?#])/;
/** The escaped characters that can form a dot segment: `%`, `.`, `/`, `;`, `?`, `#` and the backslash. */
const escapedMark = /%(25|2e|2f|3b|3f|23|5c)/gi;

/**
 * Whether a name can be a path segment. Names with `.` or `..` segments cannot, however they are encoded: nginx decodes
 * `%2F` before it resolves them (`ngx_http_parse_complex_uri`), so the call would reach another path. Names with lone
 * surrogates cannot either, because those have no UTF-8 encoding, nor names with NUL, which PostgreSQL cannot store.
 */
export function isPathSegment(name: string): boolean {
  if (name === '' || !name.isWellFormed() || name.includes('\0')) return false;
  let segment = name;
  for (let depth = 0; depth < maxDepth; depth++) {
    if (dotSegment.test(segment)) return false;
    const decoded = segment.replace(escapedMark, (_escape, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (decoded === segment) return true;
    segment = decoded;
  }
  // It is encoded too many times to be an accident.
  return false;
}
