/**
 * Assigns ids to tool calls under the rules of each API. An id depends only on the ids before it in the conversation,
 * so the same history has the same ids in each turn.
 */
import { hash, hash as hashOf } from 'node:crypto';
import type { CallIdRule } from '../client-api.ts';
import type { CallPart, Conversation, Tool } from '../conversation.ts';

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
    while (this.#usedIds.has(assigned) || !isAllowedId(this.#rule, assigned))
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

function isAllowedId(rule: CallIdRule, id: string): boolean {
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

export interface NameRule {
  maxLength: number;
  /** Allowed characters besides letters and digits. */
  others: string;
  /** The first character must be a letter or `_`. */
  beginsWithLetter: boolean;
}

/** The client's tool that an upstream has called. */
interface CalledTool {
  name: string;
  namespace?: string | undefined;
  kind: CallPart['kind'];
  ownType?: string | undefined;
}

const hashLength = 8;

/** Converts names of tools to names that an upstream accepts, and back. */
export class ToolNames {
  readonly #rule: NameRule;
  readonly #encoded = new Map<string, string>();
  readonly #decoded = new Map<string, CalledTool>();

  /** Names of tools in no namespace, and full names of those in one. */
  readonly #offered: ReadonlySet<string>;

  constructor(rule: NameRule, { tools }: Pick<Conversation, 'tools'>) {
    this.#rule = rule;
    this.#offered = new Set(tools.map((tool) => fullName(tool)));
    for (const tool of tools) this.#decoded.set(this.encode(tool), calledTool(tool));
  }

  /** A tool has the same name in definitions, choice and history. */
  encode(tool: NamedTool): string {
    const whole = fullName(tool);
    // OpenAI's tool search puts a tool that it has found into a namespace in which it was not offered.
    const full = this.#offered.has(whole) || !this.#offered.has(tool.name) ? whole : tool.name;
    let encodedName = this.#encoded.get(full);
    if (encodedName === undefined) {
      encodedName = nameWithin(this.#rule, full);
      this.#encoded.set(full, encodedName);
    }
    return encodedName;
  }

  /** An unknown name is treated as a function with that name. */
  decode(encodedName: string): CalledTool {
    return this.#decoded.get(encodedName) ?? { name: encodedName, kind: 'function' };
  }
}

interface NamedTool {
  name: string;
  namespace?: string | undefined;
}

function fullName({ name, namespace }: NamedTool): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function calledTool({ name, namespace, kind, own }: Tool): CalledTool {
  return { name, namespace, kind, ownType: own?.type };
}

/** A changed name ends in a hash of the original, so that names stay distinct. */
function nameWithin(rule: NameRule, name: string): string {
  const characters = Array.from(name, (character) => (isAllowedCharacter(rule, character) ? character : '_'));
  if (rule.beginsWithLetter && !isAllowedCharacter({ ...rule, others: '_' }, characters[0] ?? ''))
    characters.unshift('_');
  if (rule.beginsWithLetter && isDigit(characters[0] ?? '')) characters.unshift('_');
  const cleaned = characters.join('');
  if (cleaned === name && name !== '' && name.length <= rule.maxLength) return name;
  const hash = hashOf('sha256', name, 'hex').slice(0, hashLength);
  return `${cleaned.slice(0, Math.min(rule.maxLength, 64) - hashLength - 1)}_${hash}`;
}

function isAllowedCharacter({ others }: NameRule, character: string): boolean {
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  return character.length === 1 && (isLetter || isDigit(character) || others.includes(character));
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}
