/**
 * Assigns ids to tool calls under the rules of each API. An id depends only on the ids before it in the conversation,
 * so the same history has the same ids in each turn.
 */
import { hash } from 'node:crypto';
import type { CallIdRule } from '../client-api.ts';

const maxLength = 64;

/** Assigns a unique id to each call of a conversation. */
export class CallIds {
  readonly #rule: CallIdRule;
  readonly #usedIds: Set<string>;
  /** How often each id has been used as a source, so that a history of identical ids does not take quadratic time. */
  readonly #occurrences = new Map<string, number>();

  /** @param usedIds ids that the conversation already contains */
  constructor(rule: CallIdRule, usedIds: Iterable<string> = []) {
    this.#rule = rule;
    this.#usedIds = new Set(usedIds);
  }

  /**
   * Keeps an id if the rule allows it and no earlier call has it. Kimi repeats ids such as `functions.bash:0` in each
   * turn.
   */
  assign(id: string): string {
    let occurrence = this.#occurrences.get(id) ?? 0;
    let assigned = id;
    while (this.#usedIds.has(assigned) || !isAllowed(this.#rule, assigned))
      assigned = derive(this.#rule, id, occurrence++);
    this.#occurrences.set(id, occurrence);
    this.#usedIds.add(assigned);
    return assigned;
  }
}

/**
 * An id for a call for which the model provided none.
 * @param answer distinguishes the answer from those before it
 */
export function derivedCallId(answer: string, call: number, name: string): string {
  return derive('openai', `${answer} ${call} ${name}`, 0);
}

/** 22 letters and digits contain as much information as 128 bits. */
function derive(rule: CallIdRule, id: string, occurrence: number): string {
  const digest = hash('sha256', `${occurrence} ${id}`, 'base64url').slice(0, 22);
  const text = digest.replaceAll('-', 'a').replaceAll('_', 'b');
  return rule === 'mistral' ? text.slice(0, 9) : `call_${text}`;
}

function isAllowed(rule: CallIdRule, id: string): boolean {
  if (id === '') return false;
  if (rule === 'any') return true;
  if (id.length > maxLength) return false;
  if (rule === 'openai') return true;
  return rule === 'mistral' ? id.length === 9 && isPlain(id, '') : isPlain(id, '_-');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function isPlain(id: string, others: string): boolean {
  for (const character of id) if (!alphabet.includes(character) && !others.includes(character)) return false;
  return true;
}
