/**
 * Puts thoughts back where they stood in their answer. Clients of chats return them apart from texts and calls, and Claude
 * refuses thoughts that have moved: "blocks in the latest assistant message cannot be modified".
 */
import type { Part, Place, TextPart, ThinkingPart } from '../conversation.ts';

const beginning: Place = { calls: 0, text: 0 };

/** @param thoughts in their order; those that do not tell their place stand first */
export function withThoughts(parts: readonly Part[], thoughts: readonly ThinkingPart[]): Part[] {
  if (thoughts.length === 0) return [...parts];
  const arrangement = new Arrangement(thoughts);
  for (const part of parts) arrangement.take(part);
  return arrangement.end();
}

class Arrangement {
  readonly #thoughts: readonly ThinkingPart[];
  readonly #parts: Part[] = [];
  #placed = 0;
  #calls = 0;
  /** Length of the text so far. */
  #text = 0;

  constructor(thoughts: readonly ThinkingPart[]) {
    this.#thoughts = thoughts;
  }

  take(part: Part): void {
    if (part.type === 'text') this.#takeText(part);
    else {
      this.#place(part.type === 'call');
      if (part.type === 'call') this.#calls++;
      this.#parts.push(part);
    }
  }

  end(): Part[] {
    this.#parts.push(...this.#thoughts.slice(this.#placed));
    return this.#parts;
  }

  /** Divides a text within which a thought stood: chats join all texts of an answer. */
  #takeText(part: TextPart): void {
    let from = 0;
    while (from < part.text.length) {
      this.#place(false);
      const next = this.#next;
      const isWithin = next !== null && next.calls === this.#calls;
      const until = isWithin ? Math.min(part.text.length, from + next.text - this.#text) : part.text.length;
      this.#parts.push({ ...part, text: part.text.slice(from, until) });
      this.#text += until - from;
      from = until;
    }
  }

  get #next(): Place | null {
    const thought = this.#thoughts[this.#placed];
    return thought === undefined ? null : (thought.seal?.place ?? beginning);
  }

  /** The thoughts that stood here or before; before a call, all that stood between it and the call before it. */
  #place(isBeforeCall: boolean): void {
    for (let next = this.#next; next !== null; next = this.#next) {
      const isHere = next.calls === this.#calls && (isBeforeCall || next.text <= this.#text);
      const thought = this.#thoughts[this.#placed];
      if (thought === undefined || (next.calls >= this.#calls && !isHere)) return;
      this.#parts.push(thought);
      this.#placed++;
    }
  }
}
