/** Fits the JSON Schema of a tool's input to a provider: the only place that knows what each of them refuses. */

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../conversation.ts';
import { writeJson } from '../json-text.ts';
import type { Losses } from '../losses.ts';
import { mapSchemas, maxSchemaDepth, typesOf } from './schema-walk.ts';

/** What differs between providers. All want an object at the top, and lists and objects that say what they contain. */
interface SchemaRules {
  /** Accepts only `type`, `properties` and `required` at the top, and so no definitions (Amazon Nova user guide, "Tool use"). */
  isPlainAtTop?: boolean;
  /**
   * Nothing may stand beside a `$ref`. Source: Google, "Gemini API reference", `GenerationConfig.responseJsonSchema`.
   */
  hasBareReferences?: boolean;
}

/** @param at the tool's path in the client's request, under which a change of meaning is reported */
export function fitSchema(
  schema: JsonSchema | undefined,
  rules: SchemaRules,
  { at, losses }: { at: string; losses: Losses },
): JsonSchema {
  if (schema === undefined) return { type: 'object', properties: {} };
  const report = () => losses.emulated(at, 'schema-keyword');
  const { $schema: _, ...current } = inCurrentDraft(schema, report);
  if (rules.isPlainAtTop !== true) {
    const fitted = complete(objectRoot(current, report));
    return rules.hasBareReferences === true ? withBareReferences(fitted) : fitted;
  }
  const whole = objectRoot(withoutReferences(current, report), report);
  const { type, properties, required, ...others } = complete(whole);
  if (Object.keys(others).some((keyword) => !annotations.has(keyword) && keyword !== 'additionalProperties')) report();
  return { type, properties, ...(required !== undefined && { required }) };
}

/** Whether a schema of answers is one of objects, as a tool's has to be. */
export function isOfObjects(schema: JsonSchema): boolean {
  return schema.type === undefined ? schema.enum === undefined : typesOf(schema).includes('object');
}

/**
 * Older notations in that of draft 2020-12, which Anthropic and OpenAI check: the items of tuples, limits that are
 * exclusive, and `required` of a single property.
 */
function inCurrentDraft(schema: JsonSchema, report: () => void, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => inCurrentDraft(inner, report, depth + 1));
  const changes: JsonSchema = {};
  const { items, additionalItems, prefixItems, required } = mapped;
  if (Array.isArray(items)) {
    Object.assign(changes, {
      prefixItems: prefixItems ?? items.filter((each) => isObject(each) || typeof each === 'boolean'),
      items: additionalItems ?? {},
      additionalItems: undefined,
    });
  }
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (mapped[exclusive] === true) Object.assign(changes, { [exclusive]: mapped[limit], [limit]: undefined });
    else if (mapped[exclusive] === false) changes[exclusive] = undefined;
  }
  if (required !== undefined && !Array.isArray(required)) {
    report();
    changes.required = undefined;
  }
  return Object.keys(changes).length === 0 ? mapped : withoutUndefined({ ...mapped, ...changes });
}

function withoutUndefined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/**
 * OpenAI refuses a whole request for "object schema missing properties" and "array schema missing items". Neither addition
 * changes what is valid.
 */
function complete(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => complete(inner, depth + 1));
  const types = typesOf(mapped);
  const additions = {
    ...(types.includes('object') && !isObject(mapped.properties) && { properties: {} }),
    ...(types.includes('array') && mapped.items === undefined && { items: {} }),
  };
  return Object.keys(additions).length === 0 ? mapped : { ...mapped, ...additions };
}

/** The other keywords go around the reference. */
function withBareReferences(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > maxSchemaDepth) return schema;
  const mapped = mapSchemas(schema, (inner) => withBareReferences(inner, depth + 1));
  const { $ref, ...others } = mapped;
  if ($ref === undefined || Object.keys(others).every((keyword) => keyword.startsWith('$'))) return mapped;
  if (others.anyOf === undefined) return { ...others, anyOf: [{ $ref }] };
  return { ...others, allOf: [...listOf(others.allOf), { $ref }] };
}

// A schema of objects as one object: the services refuse a choice between schemas, a reference or anything but
// `"type":"object"` at the top of a tool's schema. What was valid before is valid afterwards. Only in one respect is
// that read as people mean it: an alternative that does not mention a property says nothing about it.
//
// Sources: OpenAI, "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
// level" (nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804); Anthropic, "input_schema does not support
// oneOf, allOf, or anyOf at the top level" (anthropics/claude-code#5878); Google,
// `FunctionDeclaration.parametersJsonSchema`: "The schema must describe an object".

/** More schemas at the top than any tool has; those beyond accept anything. */
const maxMerged = 1_000;
/** More alternatives are united before they meet others, so that they do not multiply. */
const maxAlternatives = 200;
/** More different schemas of one property are kept without looking for equal ones. */
const maxCompared = 50;

/** Constraints of a whole object that have no place at the top. */
const refused = ['enum', 'const', 'not'];

/** @param report is told if fewer values are refused than before */
function objectRoot(schema: JsonSchema, report: () => void): JsonSchema {
  const isPlain = !['$ref', 'allOf', 'anyOf', 'oneOf', ...refused].some((keyword) => schema[keyword] !== undefined);
  if (isPlain) return schema.type === 'object' ? schema : { ...schema, type: 'object' };
  const merger = new RootMerger(schema, report);
  const { type: _, ...merged } = merger.unite(merger.alternatives(schema, []), 'as-meant');
  for (const keyword of refused) {
    if (merged[keyword] === undefined) continue;
    report();
    delete merged[keyword];
  }
  return withMovedTargets({ type: 'object', ...merged }, schema);
}

class RootMerger {
  readonly #root: JsonSchema;
  readonly #report: () => void;
  #merged = 0;

  constructor(root: JsonSchema, report: () => void) {
    this.#root = root;
    this.#report = report;
  }

  /**
   * The objects among which a schema leaves the choice, none of which refers to another or has a choice of its own.
   * @param open the schemas whose references are being followed
   */
  alternatives(schema: JsonSchema, open: readonly JsonSchema[]): JsonSchema[] {
    if (++this.#merged > maxMerged) return [this.#anything()];
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    let all: JsonSchema[] = [own];
    if ($ref !== undefined) {
      const target = referredSchema(this.#root, $ref);
      const isCircle = target === undefined || open.includes(target);
      all = this.#both(all, isCircle ? [this.#anything()] : this.alternatives(target, [...open, target]));
    }
    for (const each of listOf(allOf)) if (isObject(each)) all = this.#both(all, this.alternatives(each, open));
    for (const choice of [anyOf, oneOf]) if (Array.isArray(choice)) all = this.#both(all, this.#chosen(choice, open));
    return all;
  }

  #anything(): JsonSchema {
    this.#report();
    return {};
  }

  /** Alternatives that are no objects cannot be chosen at the top. */
  #chosen(choice: readonly unknown[], open: readonly JsonSchema[]): JsonSchema[] {
    if (choice.includes(true)) return [this.#anything()];
    const all = choice.filter(isObject).flatMap((each) => this.alternatives(each, open));
    const objects = all.filter((each) => each.type === undefined || typesOf(each).includes('object'));
    return objects.length === 0 ? [this.#anything()] : objects;
  }

  #both(some: JsonSchema[], more: JsonSchema[]): JsonSchema[] {
    const areTooMany = some.length > 1 && more.length > 1 && some.length * more.length > maxAlternatives;
    const others = areTooMany ? [this.unite(more, 'exactly')] : more;
    return some.flatMap((one) => others.map((other) => this.#intersect(one, other)));
  }

  /** @param reading `exactly`: a property that an alternative does not mention may have any value in it */
  unite(alternatives: readonly JsonSchema[], reading: 'as-meant' | 'exactly'): JsonSchema {
    const [first = {}, ...others] = alternatives;
    if (others.length === 0) return first;
    this.#report();
    const united: JsonSchema = {
      properties: unitedProperties(alternatives, reading),
      required: requiredByAll(alternatives),
    };
    for (const [keyword, value] of Object.entries(first)) {
      const isCommon = !(keyword in united) && others.every((each) => isDeepStrictEqual(each[keyword], value));
      if (isCommon) united[keyword] = value;
    }
    const isOpen = united.patternProperties === undefined && alternatives.some((each) => 'patternProperties' in each);
    if (!isOpen && reading === 'as-meant') return united;
    const { additionalProperties: _, unevaluatedProperties: __, ...openObject } = united;
    return openObject;
  }

  /** Where both say something different, the first one counts, which accepts no less than both together. */
  #intersect(one: JsonSchema, other: JsonSchema): JsonSchema {
    const both: JsonSchema = { ...one };
    for (const [keyword, value] of Object.entries(other)) {
      const before = one[keyword];
      if (before === undefined) both[keyword] = value;
      else if (keyword === 'required') both.required = [...new Set([...listOf(before), ...listOf(value)])];
      else if (keyword === 'type' || annotations.has(keyword) || isDeepStrictEqual(before, value)) continue;
      else if (named.has(keyword) && isObject(before) && isObject(value))
        both[keyword] = intersectMembers(before, value);
      else if (keyword === 'additionalProperties' && value === false) both[keyword] = false;
      else if (before !== false) this.#report();
    }
    return both;
  }
}

/** Keywords whose members belong together by their names. */
const named = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
/** Each name costs no more than the lists that contain it, because the search ends at the first that does not. */
function requiredByAll(alternatives: readonly JsonSchema[]): unknown[] {
  const [first = new Set(), ...others] = alternatives.map(({ required }) => new Set(listOf(required)));
  return [...first].filter((name) => others.every((each) => each.has(name)));
}

function unitedProperties(alternatives: readonly JsonSchema[], reading: 'as-meant' | 'exactly'): JsonSchema {
  const schemas = new Map<string, unknown[]>();
  for (const { properties } of alternatives) {
    for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
      const ofName = schemas.get(name);
      if (ofName) ofName.push(schema);
      else schemas.set(name, [schema]);
    }
  }
  const isSaid = (ofName: readonly unknown[]) => reading === 'as-meant' || ofName.length === alternatives.length;
  return Object.fromEntries([...schemas].map(([name, ofName]) => [name, isSaid(ofName) ? unitedSchema(ofName) : {}]));
}

/** Constants and lists of values become one list. */
function unitedSchema(schemas: readonly unknown[]): unknown {
  const distinct: unknown[] = [];
  for (const schema of schemas) {
    if (schema === false) continue;
    const isKnown = distinct.length <= maxCompared && distinct.some((each) => isDeepStrictEqual(each, schema));
    if (!isKnown) distinct.push(schema);
  }
  const [first = false, ...others] = distinct;
  if (others.length === 0) return first;
  if (!distinct.every(isObject)) return {};
  return unitedValues(distinct) ?? { anyOf: distinct };
}

/** Null if one of them accepts more than a list of values. */
function unitedValues(schemas: readonly JsonSchema[]): JsonSchema | null {
  const values = new Map<string, unknown>();
  for (const schema of schemas) {
    const list = valuesOf(schema);
    if (list === null) return null;
    for (const value of list) values.set(writeJson(value), value);
  }
  const described = schemas.find(({ description }) => typeof description === 'string');
  const types = new Set(schemas.flatMap(typesOf));
  const isTyped = schemas.every(({ type }) => type !== undefined);
  const [only] = types;
  return {
    ...(isTyped ? { type: types.size === 1 ? only : [...types] } : {}),
    ...(described && { description: described.description }),
    enum: [...values.values()],
  };
}

function valuesOf(schema: JsonSchema): readonly unknown[] | null {
  const rest = Object.keys(schema).filter((keyword) => !annotations.has(keyword) && keyword !== 'type');
  if (rest.length !== 1) return null;
  if (rest[0] === 'const') return [schema.const];
  return rest[0] === 'enum' ? listOf(schema.enum) : null;
}

/** Keywords whose meaning depends on those beside them. */
const dependent = new Set([
  ...['$ref', 'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'not'],
  ...['items', 'prefixItems', 'contains', 'unevaluatedItems', 'if', 'then', 'else', 'anyOf', 'oneOf', 'allOf'],
]);

/** Both constraints for each name: in one schema if they concern different things, otherwise beside each other. */
function intersectMembers(some: JsonSchema, more: JsonSchema): JsonSchema {
  const members = { ...some };
  for (const [name, schema] of Object.entries(more)) {
    members[name] = Object.hasOwn(some, name) ? intersectSchemas(some[name], schema) : schema;
  }
  return members;
}

function intersectSchemas(one: unknown, other: unknown): unknown {
  if (one === false || other === false) return false;
  if (!isObject(one)) return other;
  if (!isObject(other)) return one;
  const listed = intersectValues(one, other);
  if (listed !== null) return listed;
  const isMergeable = Object.entries(other).every(
    ([keyword, value]) =>
      annotations.has(keyword) || one[keyword] === undefined || isDeepStrictEqual(one[keyword], value),
  );
  const depend = (schema: JsonSchema) => Object.keys(schema).some((keyword) => dependent.has(keyword));
  return isMergeable && !(depend(one) && depend(other)) ? { ...other, ...one } : { allOf: [one, other] };
}

/** The values that both list; null if one of them lists none, or if they have none in common. */
function intersectValues(one: JsonSchema, other: JsonSchema): JsonSchema | null {
  const [some, more] = [valuesOf(one), valuesOf(other)];
  if (some === null || more === null) return null;
  const known = new Set(more.map((value) => writeJson(value)));
  const common = some.filter((value) => known.has(writeJson(value)));
  if (common.length === 0) return null;
  const { const: _, ...both } = { ...other, ...one };
  return { ...both, enum: common };
}

/** The schema in `root` to which a reference such as `#/$defs/Point` points; undefined if there is none. */
function referredSchema(root: JsonSchema, reference: unknown): JsonSchema | undefined {
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
function withoutReferences(root: JsonSchema, report: () => void): JsonSchema {
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
const annotations: ReadonlySet<string> = new Set(
  'title description default examples example deprecated readOnly writeOnly $comment'.split(' '),
);

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Definitions for references that pointed into what `schema` no longer has, so that none is left without its target. */
function withMovedTargets(schema: JsonSchema, before: JsonSchema): JsonSchema {
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
