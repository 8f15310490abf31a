/** Decides which requests get which faults: the same ones each time, for the same rules, seed and order of requests. */

import type { Fault } from './fault-kinds.ts';
import { needsStream } from './fault-kinds.ts';
import { type Condition, combined, type FaultRule } from './parse-rule.ts';

/** The properties of a request that rules can test. */
export interface FaultedRequest {
  model: string | null;
  /** As in the route table: `/v1/chat/completions`. */
  route: string;
  /** Whether the client asked for a stream. */
  streams: boolean;
}

export class FaultSequence {
  readonly #rules: readonly FaultRule[];
  readonly #seed: number;
  /** The number of requests that each rule has counted. */
  readonly #counts: number[];

  constructor(rules: readonly FaultRule[], seed: number) {
    this.#rules = rules;
    this.#seed = seed;
    this.#counts = rules.map(() => 0);
  }

  /**
   * The faults of the rules that apply, as far as they can be combined. Every rule whose conditions match counts the
   * request.
   */
  next(request: FaultedRequest): readonly Fault[] {
    const dueRules = this.#rules.filter((rule, index) => {
      if (!isAbout(rule, request)) return false;
      const count = (this.#counts[index] ?? 0) + 1;
      this.#counts[index] = count;
      return isDue(rule.when, count, chance(this.#seed, index, count));
    });
    return combined(dueRules.map(({ fault }) => fault));
  }
}

function isAbout({ fault, when }: FaultRule, { model, route, streams }: FaultedRequest): boolean {
  if (needsStream(fault) && !streams) return false;
  if (when.route !== undefined && !route.endsWith(when.route)) return false;
  return when.model === undefined || (model !== null && matches(when.model, model));
}

function isDue({ nth, every, first, share }: Condition, count: number, drawn: number): boolean {
  if (nth !== undefined && count !== nth) return false;
  if (every !== undefined && count % every !== 0) return false;
  if (first !== undefined && count > first) return false;
  return share === undefined || drawn < share;
}

/** `*` matches any characters. Not a regular expression, because the client chooses the name. */
function matches(wildcard: string, name: string): boolean {
  const parts = wildcard.split('*');
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return wildcard === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const position = name.indexOf(part, at);
    if (position === -1) return false;
    at = position + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** A number from 0 to 1 that depends on all three. The mixing function is MurmurHash3's finalizer, public domain. */
function chance(seed: number, rule: number, count: number): number {
  let bits = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(rule + 1, 0x85ebca6b) ^ Math.imul(count, 0xc2b2ae35)) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
