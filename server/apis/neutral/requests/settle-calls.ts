/**
 * Matches tool calls with their results as all four APIs require: each call has one result, the results of a turn
 * follow it directly in the order of the calls, and there is no result without a call. Clients that were interrupted
 * send histories that violate this.
 */

import type { CallIdRule } from '../client-api.ts';
import type { CallPart, Part, ResultPart, TextPart, Turn } from '../conversation.ts';
import type { Losses } from '../losses.ts';
import { CallIds } from './call-ids.ts';

const cancelled = 'The tool call was cancelled: there is no result.';

/** A call of the current turn, with its result once that is found. */
interface OpenCall {
  call: CallPart;
  result: ResultPart | null;
}

export function settleCalls(turns: readonly Turn[], rule: CallIdRule, losses: Losses): Turn[] {
  const settling = new Settling(rule, losses);
  for (const turn of turns.flatMap((each) => inTheirRoles(each, losses))) {
    if (turn.role === 'assistant') settling.takeAssistant(turn.parts);
    else settling.takeOther(turn);
  }
  return settling.finish();
}

/**
 * Results and media belong to the user, calls and thoughts to the assistant. The APIs refuse them in the other's turn,
 * except that Gemini's models return images.
 */
function inTheirRoles(turn: Turn, losses: Losses): Turn[] {
  const { role, parts } = turn;
  const owners = parts.map((part) => ownerOf(part, role));
  if (owners.every((owner) => owner === role)) return [turn];
  const turns: Turn[] = [];
  for (const [index, part] of parts.entries()) {
    const owner = owners[index] ?? role;
    if (part.type === 'media' && owner !== role) losses.emulated(part.at, 'moved-media');
    const before = turns.at(-1);
    if (before?.role === owner) before.parts.push(part);
    else turns.push({ role: owner, parts: [part] });
  }
  return turns;
}

function ownerOf({ type }: Part, role: Turn['role']): Turn['role'] {
  if (type === 'call' || type === 'thinking') return 'assistant';
  if (type === 'result') return 'user';
  return type === 'media' && role === 'assistant' ? 'user' : role;
}

class Settling {
  readonly #ids: CallIds;
  readonly #losses: Losses;
  readonly #settled: Turn[] = [];
  #open: OpenCall[] = [];
  /** By the client's id; the first `answered` calls of each entry have their result. */
  #byId = new Map<string, { calls: OpenCall[]; answered: number }>();
  #isAnswered = false;
  /** The position for the results of the open calls. */
  #resultPosition = 0;

  constructor(rule: CallIdRule, losses: Losses) {
    this.#ids = new CallIds(rule);
    this.#losses = losses;
  }

  /** Joins adjacent turns of the assistant, because Anthropic and Google require alternating roles. */
  takeAssistant(parts: readonly Part[]): void {
    let turn = this.#settled.at(-1);
    if (turn?.role !== 'assistant' || this.#isAnswered) {
      this.#close();
      turn = { role: 'assistant', parts: [] };
      this.#settled.push(turn);
      this.#resultPosition = this.#settled.length;
    }
    for (const part of parts) turn.parts.push(part.type === 'call' ? this.#openCall(part) : part);
  }

  takeOther({ role, parts }: Turn): void {
    const remaining = parts.flatMap((part) => (part.type === 'result' ? this.#takeResult(part) : [part]));
    if (remaining.length > 0) this.#settled.push({ role, parts: remaining });
  }

  finish(): Turn[] {
    this.#close();
    return this.#settled;
  }

  #openCall(part: CallPart): CallPart {
    const open: OpenCall = { call: { ...part, id: this.#ids.assign(part.id) }, result: null };
    this.#open.push(open);
    const sameId = this.#byId.get(part.id);
    if (sameId) sameId.calls.push(open);
    else this.#byId.set(part.id, { calls: [open], answered: 0 });
    return open.call;
  }

  /** Empty if the result was matched with its call; otherwise the parts that replace it. */
  #takeResult(result: ResultPart): Part[] {
    const sameId = this.#byId.get(result.callId);
    const open = sameId?.calls[sameId.answered];
    if (sameId && open) {
      sameId.answered++;
      this.#isAnswered = true;
      open.result = { ...result, callId: open.call.id };
      return [];
    }
    this.#losses.emulated(result.at, 'stray-result');
    const heading: TextPart = { type: 'text', text: `Result of a tool call (${result.callId}):`, at: result.at };
    return [heading, ...result.parts];
  }

  #close(): void {
    if (this.#open.length === 0) return;
    const results = this.#open.map(({ call, result }) => result ?? cancel(call, this.#losses));
    this.#settled.splice(this.#resultPosition, 0, { role: 'user', parts: results });
    this.#open = [];
    this.#byId = new Map();
    this.#isAnswered = false;
  }
}

function cancel({ id, at }: CallPart, losses: Losses): ResultPart {
  losses.emulated(at, 'missing-result');
  return { type: 'result', callId: id, parts: [{ type: 'text', text: cancelled, at: '' }], isError: true, at: '' };
}
