/** Parses faults and rules as written in commands, profiles and the header `x-sluice-fault`. */
import { z } from 'zod';
import {
  endsAnswer,
  type Fault,
  type FaultName,
  faultNames,
  faultSchemas,
  isEarly,
  needsStream,
  replacesAnswer,
} from './fault-kinds.ts';

/** When a rule applies. All given conditions must hold; a rule without conditions applies to every request. */
const conditionSchema = z.strictObject({
  /** The share of requests, from 0 to 1, chosen by the seed. */
  share: z.coerce.number().gt(0).max(1).optional(),
  /** Only the nth of the requests that match `model` and `route`, counted from 1. */
  nth: z.coerce.number().int().min(1).optional(),
  every: z.coerce.number().int().min(1).optional(),
  first: z.coerce.number().int().min(1).optional(),
  /** A name, in which `*` stands for any characters. */
  model: z.string().min(1).optional(),
  /** The end of a path, such as `/chat/completions`. */
  route: z.string().min(1).optional(),
});

export type Condition = z.infer<typeof conditionSchema>;

export interface FaultRule {
  fault: Fault;
  when: Condition;
}

/** The text names no known fault, or a parameter is wrong. `message` names the field. */
export class FaultTextError extends Error {
  /** The wrong parameter or condition; null if the error is not about one. */
  readonly field: string | null;

  constructor(message: string, field: string | null = null) {
    super(message);
    this.field = field;
  }
}

/** A rule: `cut;after=5;share=0.1;model=gpt-*`. Throws FaultTextError. */
export function parseRule(text: string): FaultRule {
  const { name, pairs } = split(text);
  const isCondition = ([field]: readonly [string, string]) => field in conditionSchema.shape;
  const fault = faultOf(
    name,
    pairs.filter((pair) => !isCondition(pair)),
  );
  return { fault, when: check(conditionSchema, pairs.filter(isCondition), name) };
}

const maxFaults = 10;

/**
 * The faults that a single request asks for: `late-head;ms=500, stall;after=40`. Throws FaultTextError, also for faults
 * that cannot be combined. The syntax is a list of RFC 9651, section 3.1, whose items have parameters.
 */
export function parseFaults(text: string): Fault[] {
  const faults = text.split(',', maxFaults + 1).map(parseFault);
  if (faults.length > maxFaults) throw new FaultTextError(`A request can ask for at most ${maxFaults} faults.`);
  for (const [index, fault] of faults.entries()) {
    for (const other of faults.slice(0, index)) {
      const conflict = conflictOf(other, fault);
      if (conflict !== null) throw new FaultTextError(conflict);
    }
  }
  return faults;
}

/** One fault: `stall;after=40`. Throws FaultTextError, also for conditions. */
export function parseFault(text: string): Fault {
  const { name, pairs } = split(text);
  const condition = pairs.find(([field]) => field in conditionSchema.shape);
  if (condition)
    throw new FaultTextError(`"${condition[0]}" belongs to rules: a request for a fault always gets it.`, condition[0]);
  return faultOf(name, pairs);
}

const maxTextLength = 300;

function split(text: string): { name: FaultName; pairs: [string, string][] } {
  if (text.length > maxTextLength) throw new FaultTextError(`A fault has at most ${maxTextLength} characters.`);
  const [name = '', ...parts] = text.split(';').map((part) => part.trim());
  if (name.includes(',')) throw new FaultTextError('A rule has one fault: write a rule for each.');
  if (!isFaultName(name)) {
    throw new FaultTextError(`There is no fault "${name}". There are: ${faultNames.join(', ')}.`);
  }
  const pairs = parts.filter((part) => part !== '').map((part): [string, string] => pairOf(name, part));
  const names = pairs.map(([field]) => field);
  const twice = names.find((field, index) => names.indexOf(field) !== index);
  if (twice !== undefined) throw new FaultTextError(`"${twice}" of "${name}" is given twice.`, twice);
  return { name, pairs };
}

function pairOf(name: string, part: string): [string, string] {
  const equals = part.indexOf('=');
  if (equals < 1 || equals === part.length - 1)
    throw new FaultTextError(`"${part}" of "${name}" is no parameter: write NAME=VALUE.`, part);
  return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultSchemas, name);
}

function faultOf(name: FaultName, pairs: readonly [string, string][]): Fault {
  const schema: z.ZodType<object> = faultSchemas[name];
  // Safe, because the schema is that of the name.
  return { name, ...check(schema, pairs, name) } as Fault;
}

function check<Value>(schema: z.ZodType<Value>, pairs: readonly [string, string][], name: string): Value {
  const parsed = schema.safeParse(Object.fromEntries(pairs));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys;
    throw new FaultTextError(`"${name}" has no "${unknown}".`, unknown);
  }
  const field = issue?.path[0]?.toString() ?? null;
  const where = field === null ? `"${name}"` : `"${field}" of "${name}"`;
  if (issue?.code === 'invalid_type' && issue.expected === 'number')
    throw new FaultTextError(`${where} must be a number.`, field);
  throw new FaultTextError(`${where} is wrong: ${issue?.message ?? 'it cannot be read'}.`, field);
}

// Decides which faults can be injected into one request together: all that do not end it in two different ways.

/** Why no request can get both; null if one can. */
function conflictOf(one: Fault, other: Fault): string | null {
  if (one.name === other.name) return `"${one.name}" is given twice.`;
  const beginning = `"${one.name}" and "${other.name}" cannot be combined`;
  const replacing = [one, other].filter(replacesAnswer);
  if (replacing.length === 2) return `${beginning}: each is sent in place of the answer.`;
  const [insteadFault] = replacing;
  if (insteadFault && !(isEarly(one) && isEarly(other)))
    return `${beginning}: "${insteadFault.name}" leaves no answer to change.`;
  return endsAnswer(one) && endsAnswer(other) ? `${beginning}: each ends the answer.` : null;
}

/** Whether a request that is due for both gets only `one`. */
function displaces(one: Fault, other: Fault, isBefore: boolean): boolean {
  if (conflictOf(one, other) === null) return false;
  return replacesAnswer(one) === replacesAnswer(other) ? isBefore : replacesAnswer(one);
}

/**
 * The faults that a request gets if several rules apply: of faults that cannot be combined, the one that replaces the
 * answer, otherwise the first.
 */
export function combined(dueFaults: readonly Fault[]): readonly Fault[] {
  if (dueFaults.length < 2) return dueFaults;
  return dueFaults.filter(
    (fault, index) => !dueFaults.some((other, at) => at !== index && displaces(other, fault, at < index)),
  );
}

interface Rule {
  fault: Fault;
  /** The rule's conditions; if empty, it applies to every request. */
  when: object;
}

/** The index of a rule that can never apply, and of the rule that prevents it; null if there is none. */
export function findUnmetRule(rules: readonly Rule[]): { index: number; because: number } | null {
  for (const [index, { fault }] of rules.entries()) {
    const because = rules.findIndex(
      (rule, at) => at !== index && isUnconditional(rule, fault) && displaces(rule.fault, fault, at < index),
    );
    if (because !== -1) return { index, because };
  }
  return null;
}

/** Whether it applies to all requests that can get the fault. */
function isUnconditional({ fault, when }: Rule, other: Fault): boolean {
  return Object.keys(when).length === 0 && (!needsStream(fault) || needsStream(other));
}
