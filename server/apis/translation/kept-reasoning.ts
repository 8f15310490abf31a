/**
 * Extracts and restores reasoning that must be returned with its tool calls, for clients that do not bring all of it
 * back. Those of chats drop the reasoning of Anthropic and Google, unless they preserve unknown members; others drop
 * what they cannot show. Call ids are always returned.
 */
import { hash, randomBytes } from 'node:crypto';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { CallPart, Conversation, Part, Place, Seal, ThinkingPart, Turn } from '../neutral/conversation.ts';
import { GrowingText } from '../neutral/json-text.ts';
import type { AnswerEvent, DeltaEvent } from '../neutral/neutral-answer.ts';
import { withThoughts } from '../neutral/requests/carried-reasoning.ts';

const beginning = 'resp_sluice_';
const itemKinds = ['msg', 'rs', 'fc', 'ctc'] as const;

/** The ids of responses that Sluice produced by translation and stores itself, and of the items in them. */
export function createKeptId(): string {
  return beginning + randomBytes(16).toString('hex');
}

export function isKeptId(id: string): boolean {
  return id.startsWith(beginning);
}

export const keptItemBeginnings: readonly string[] = itemKinds.map((kind) => `${kind}_sluice_`);
const itemIdPattern = boundedPattern(/^(?:msg|rs|fc|ctc)_sluice_([0-9a-f]{32})_[0-9]{1,6}$/);

/** Returns the id of the stored response that contains the output item; null for any other item id. */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = itemIdPattern.exec(itemId) ?? [];
  return hex === undefined ? null : beginning + hex;
}

/** One seal of an answer, with its place. */
export interface KeptSeal {
  seal: Seal & { place: Place };
  /** The sealed thought; null for the seal of a call. */
  text: string | null;
}

/** All seals of an answer that contains calls. */
export interface KeptReasoning {
  /** The client's id of the first call. */
  callId: string;
  /** Hash of the calls, because ids are not unique everywhere: Gemini's are numbered within a conversation. */
  digest: string;
  seals: readonly KeptSeal[];
}

/** Collects the seals from the events of the client's answer. */
export class ReasoningCollector {
  /** Calls by index. */
  readonly #callsByIndex = new Map<number, { id: string; name: string; arguments: GrowingText }>();
  readonly #seals: KeptSeal[] = [];
  #thought = new GrowingText();

  take(event: AnswerEvent): void {
    if (event.type === 'thinking') this.#thought.add(event.text);
    else if (event.type === 'seal') this.#keep(event.seal, event.seal.isOfCall ? null : this.#thought.text);
    else if (event.type === 'call') {
      this.#callsByIndex.set(event.index, { id: event.id, name: event.name, arguments: new GrowingText() });
      if (event.seal) this.#keep(event.seal, null);
    } else if (event.type === 'arguments') {
      this.#callsByIndex.get(event.index)?.arguments.add(event.text);
    }
    if (event.type !== 'thinking' && !this.#thought.isEmpty) this.#thought = new GrowingText();
  }

  /** Adds more to the text of the latest event, given as the inside of a JSON string. */
  takeMore(latest: DeltaEvent, escaped: string): void {
    if (latest.type === 'thinking') this.#thought.addEscaped(escaped);
    else if (latest.type === 'arguments') this.#callsByIndex.get(latest.index)?.arguments.addEscaped(escaped);
  }

  /** Null if there are no calls with reasoning to restore. */
  get kept(): KeptReasoning | null {
    const [first] = this.#callsByIndex.values();
    if (!first || this.#seals.length === 0) return null;
    const calls = [...this.#callsByIndex.values()].map((call) => ({ name: call.name, arguments: call.arguments.text }));
    return { callId: first.id, digest: digestOf(calls), seals: this.#seals };
  }

  #keep({ place = { calls: this.#callsByIndex.size, text: 0 }, ...seal }: Seal, text: string | null): void {
    this.#seals.push({ seal: { ...seal, place }, text });
  }
}

/** Maximum number of turns to look up. Agents have fewer, and older reasoning matters little. */
const maxTurns = 1_000;

/**
 * The first call id of each turn that may lack some of its model's reasoning; only of the latest turns if there are many. If
 * the client brought any of it back, the turn is looked up only as long as its results are being answered: providers
 * refuse what is missing there.
 */
export function callsWithoutReasoning({ turns }: Conversation): string[] {
  const asked = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.every(({ type }) => type !== 'result'),
  );
  return turns
    .flatMap((turn, index) => (index > asked || sealsOf(turn).size === 0 ? (callsOf(turn)[0]?.id ?? []) : []))
    .slice(-maxTurns);
}

/** Restores the stored reasoning, given by the id of each turn's first call, where the client has not brought all back. */
export function withKeptReasoning(
  conversation: Conversation,
  reasoningByCall: ReadonlyMap<string, Omit<KeptReasoning, 'callId'>>,
): Conversation {
  if (reasoningByCall.size === 0) return conversation;
  const turns = conversation.turns.map((turn) => {
    const calls = callsOf(turn);
    const found = reasoningByCall.get(calls[0]?.id ?? '');
    if (!found || hasAll(turn, found.seals) || found.digest !== digestOf(calls)) return turn;
    return { ...turn, parts: withSeals(turn.parts, found.seals) };
  });
  return { ...conversation, turns };
}

/** The thoughts that were kept with these calls, without those that are sealed; empty if they led to other calls. */
export function plainThoughts(
  { digest, seals }: Omit<KeptReasoning, 'callId'>,
  calls: readonly Pick<CallPart, 'name' | 'arguments'>[],
): string {
  if (digest !== digestOf(calls)) return '';
  return seals.flatMap(({ seal, text }) => (seal.kind === 'plain' && text ? [text] : [])).join('\n\n');
}

/** Ignores whitespace, because clients may re-serialise the arguments. */
function digestOf(calls: readonly Pick<CallPart, 'name' | 'arguments'>[]): string {
  const lines = calls.map((call) => `${call.name} ${call.arguments}`.replaceAll(' ', '').replaceAll('\n', ''));
  return hash('sha256', lines.join('\n'));
}

function callsOf({ role, parts }: Turn): CallPart[] {
  return role === 'assistant' ? parts.filter((part) => part.type === 'call') : [];
}

/** The seals that the client has brought back. */
function sealsOf({ parts }: Turn): ReadonlySet<string> {
  const seals = parts.flatMap((part) => (part.type === 'thinking' || part.type === 'call' ? (part.seal ?? []) : []));
  return new Set(seals.map(({ data }) => data));
}

/** Whether nothing is missing. What is only text, without a seal, came back if the turn has any seal. */
function hasAll(turn: Turn, kept: readonly KeptSeal[]): boolean {
  const seals = sealsOf(turn);
  return seals.size > 0 && kept.every(({ seal }) => seals.has(seal.data));
}

/** Thoughts that the client returned are dropped, because the stored ones include them. */
function withSeals(parts: readonly Part[], seals: readonly KeptSeal[]): Part[] {
  const at = parts.find(({ type }) => type === 'call')?.at ?? '';
  const ofCalls = new Map(
    seals.flatMap(({ seal, text }) => (text === null ? [[seal.place.calls, seal] as const] : [])),
  );
  const thoughts = seals.flatMap(({ seal, text }): ThinkingPart[] =>
    text === null ? [] : [{ type: 'thinking', text, seal, at }],
  );
  let calls = 0;
  const others = parts.flatMap((part): Part[] => {
    if (part.type === 'thinking') return [];
    return [part.type === 'call' ? { ...part, seal: ofCalls.get(calls++) ?? part.seal } : part];
  });
  return withThoughts(others, thoughts);
}
