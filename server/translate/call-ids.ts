/**
 * Ids of tool calls within the rules of each API. A pure function of the ids that stand before one in the conversation, so
 * that the same history has the same ids each turn.
 */
import { hash } from 'node:crypto';

/**
 * OpenAI takes up to 64 characters. Anthropic's API reference: `^[a-zA-Z0-9_-]+$`, to which 64 are no harm. Mistral, API
 * reference: exactly nine letters or digits. Gemini takes any id, or none.
 */
export type CallIdRule = 'openai' | 'anthropic' | 'mistral' | 'any';

const maxLength = 64;

/** Gives each call of a conversation an id of its own. */
export class CallIds {
  readonly #rule: CallIdRule;
  readonly #used: Set<string>;
  /** How often an id has been derived from one, so that a history of nothing else takes no longer. */
  readonly #occurrences = new Map<string, number>();

  /** @param used ids that the conversation has already */
  constructor(rule: CallIdRule, used: Iterable<string> = []) {
    this.#rule = rule;
    this.#used = new Set(used);
  }

  /** The id itself where the rule allows it and no call before has it. Kimi's `functions.bash:0` comes in each turn. */
  assign(id: string): string {
    let occurrence = this.#occurrences.get(id) ?? 0;
    let assigned = id;
    while (this.#used.has(assigned) || !isAllowed(this.#rule, assigned))
      assigned = derive(this.#rule, id, occurrence++);
    this.#occurrences.set(id, occurrence);
    this.#used.add(assigned);
    return assigned;
  }
}

/** An id for a call that its model has given none. */
export function idOfPlace(turn: number, call: number, name: string): string {
  return derive('openai', `${turn} ${call} ${name}`, 0);
}

/** 22 letters and digits: as good as 128 bits. */
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
