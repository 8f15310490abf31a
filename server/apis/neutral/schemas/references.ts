/** The `$ref`s of a JSON Schema: what they refer to, and a schema without them. */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import { mapSchemas, maxSchemaDepth } from './schema-walk.ts';

/** The schema in `root` to which a reference such as `#/$defs/Point` points; undefined if there is none. */
export function referredSchema(root: JsonSchema, reference: unknown): JsonSchema | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const [beginning, ...names] = reference.split('/');
  if (beginning !== '#') return anchored(root, reference.slice(1));
  let found: unknown = root;
  for (const name of names) {
    const member = memberName(name);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, member)) return undefined;
    found = (found as JsonSchema)[member];
  }
  return isObject(found) ? found : undefined;
}

/** A pointer in a URL: `~1` stands for `/`, `~0` for `~`, and the rest may be percent-encoded. */
function memberName(part: string): string {
  const unescaped = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}

function anchored({ $defs }: JsonSchema, anchor: string): JsonSchema | undefined {
  const definitions = isObject($defs) ? Object.values($defs).filter(isObject) : [];
  return definitions.find(({ $anchor }) => $anchor === anchor);
}

/** Definitions that refer to one another several times each would grow beyond all bounds. */
const maxInlined = 2_000;

/**
 * A schema with everything that it refers to in place. What refers to itself, to another document or to nothing accepts
 * anything at that point, of which `report` is told.
 */
export function withoutReferences(root: JsonSchema, report: () => void): JsonSchema {
  let inlined = 0;
  let isLoose = false;
  const inline = (schema: JsonSchema, depth: number, open: readonly JsonSchema[]): JsonSchema => {
    const { $ref, ...siblings } = schema;
    if ($ref === undefined) return mapSchemas(schema, (inner) => inline(inner, depth + 1, open));
    const target = referredSchema(root, $ref);
    const rest = mapSchemas(siblings, (inner) => inline(inner, depth + 1, open));
    if (target === undefined || open.includes(target) || depth > maxSchemaDepth || inlined++ >= maxInlined) {
      isLoose = true;
      return rest;
    }
    const found = inline(target, depth + 1, [...open, target]);
    const isPlain = Object.keys(rest).every((keyword) => annotations.has(keyword));
    return isPlain ? { ...found, ...rest } : { ...rest, allOf: [...listOf(rest.allOf), found] };
  };
  const { $defs: _, definitions: __, ...others } = root;
  const whole = inline(others, 0, [root]);
  if (!isLoose) return whole;
  report();
  return withoutExclusion(whole);
}

/** Where a part accepts more than before, `oneOf` and `not` would refuse what was valid. */
function withoutExclusion(schema: JsonSchema): JsonSchema {
  const { oneOf, not: _, ...mapped } = mapSchemas(schema, withoutExclusion);
  if (oneOf === undefined) return mapped;
  if (mapped.anyOf === undefined) return { ...mapped, anyOf: oneOf };
  return { ...mapped, allOf: [...listOf(mapped.allOf), { anyOf: oneOf }] };
}

/** Keywords that say nothing about which values are valid. */
export const annotations: ReadonlySet<string> = new Set(
  'title description default examples example deprecated readOnly writeOnly $comment'.split(' '),
);

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Definitions for references that pointed into what `schema` no longer has, so that none is left without its target. */
export function withMovedTargets(schema: JsonSchema, before: JsonSchema): JsonSchema {
  const moved = new Map<string, JsonSchema>();
  const follow = (inner: JsonSchema): JsonSchema => {
    const { $ref } = inner;
    const isLost = $ref !== undefined && referredSchema(schema, $ref) === undefined;
    const target = isLost ? referredSchema(before, $ref) : undefined;
    if (target === undefined) return mapSchemas(inner, follow);
    const name = `moved_${[...moved.keys()].indexOf(String($ref)) + 1 || moved.size + 1}`;
    if (!moved.has(String($ref))) {
      moved.set(String($ref), {});
      moved.set(String($ref), follow(target));
    }
    return { ...mapSchemas(inner, follow), $ref: `#/$defs/${name}` };
  };
  const followed = mapSchemas(schema, follow);
  if (moved.size === 0) return schema;
  const definitions = Object.fromEntries([...moved.values()].map((each, index) => [`moved_${index + 1}`, each]));
  return { ...followed, $defs: { ...(isObject(followed.$defs) ? followed.$defs : {}), ...definitions } };
}
