/** Converts names of tools to names that an upstream accepts, and back. */
import { hash as hashOf } from 'node:crypto';
import type { CallPart, Conversation, Tool } from '../conversation.ts';

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
  const characters = Array.from(name, (character) => (isAllowed(rule, character) ? character : '_'));
  if (rule.beginsWithLetter && !isAllowed({ ...rule, others: '_' }, characters[0] ?? '')) characters.unshift('_');
  if (rule.beginsWithLetter && isDigit(characters[0] ?? '')) characters.unshift('_');
  const cleaned = characters.join('');
  if (cleaned === name && name !== '' && name.length <= rule.maxLength) return name;
  const hash = hashOf('sha256', name, 'hex').slice(0, hashLength);
  return `${cleaned.slice(0, Math.min(rule.maxLength, 64) - hashLength - 1)}_${hash}`;
}

function isAllowed({ others }: NameRule, character: string): boolean {
  const isLetter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  return character.length === 1 && (isLetter || isDigit(character) || others.includes(character));
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}
