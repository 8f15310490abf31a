/** The canonical form of a request, which is the same for all equivalent requests. */
import { createHash } from 'node:crypto';
import type { RecordedRequest } from './format.ts';

export interface CanonicalRules {
  /** Paths of fields that are omitted. */
  ignored: readonly (readonly string[])[];
  /** Rewrites each text value. */
  text(text: string): string;
}

/** Omits nothing. */
export const strictRules: CanonicalRules = { ignored: [], text: (text) => text };

/** SHA-256 of everything that is compared. */
export function hashOf(request: RecordedRequest, rules: CanonicalRules): string {
  const hash = createHash('sha256').update(`${request.method} ${rules.text(request.path)}\n`);
  return hash.update(canonicalJson(comparedBody(request), rules)).digest('hex');
}

/**
 * The body in the form that is compared: a form becomes an object of its parts, so that the order of their names does
 * not matter.
 */
export function comparedBody({ body }: RecordedRequest): unknown {
  if (body === null) return null;
  if ('json' in body) return body.json;
  if (!('form' in body)) return body;
  const parts: Record<string, unknown[]> = Object.create(null);
  for (const { name, ...part } of body.form) {
    const existing = parts[name];
    if (existing) existing.push(part);
    else parts[name] = [part];
  }
  return parts;
}

/** JSON with sorted keys, without the fields that the rules omit. */
export function canonicalJson(value: unknown, { ignored, text }: CanonicalRules): string {
  const write = (part: unknown, paths: CanonicalRules['ignored']): string => {
    if (typeof part === 'string') return JSON.stringify(text(part));
    if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'null';
    if (Array.isArray(part)) return `[${part.map((item, index) => write(item, below(paths, String(index)))).join()}]`;
    const members = Object.entries(part)
      .filter(([name]) => !isIgnored(paths, name))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${write(item, below(paths, name))}`).join()}}`;
  };
  return write(value, ignored);
}

/** The rest of the paths that begin with the member. */
export function below(paths: CanonicalRules['ignored'], name: string): CanonicalRules['ignored'] {
  if (paths.length === 0) return paths;
  return paths.filter(([first]) => first === name || first === '*').map((path) => path.slice(1));
}

export function isIgnored(paths: CanonicalRules['ignored'], name: string): boolean {
  return paths.some((path) => path.length === 1 && (path[0] === name || path[0] === '*'));
}
