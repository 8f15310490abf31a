/**
 * Regular expressions that somebody else has written, such as those of a repository's `cassette.json`. They are matched
 * without backtracking, by following all alternatives at once in a deterministic automaton that is built as it is needed
 * (Cox, "Regular Expression Matching in the Wild"), with the same matches as in JavaScript. Where the attempts at a text
 * overlap so much that even this takes long, the steps are bounded.
 */
import { GatewayError } from '../contract/errors.ts';
import type { TextRange } from './bounded-search.ts';
import { type Instruction, type PatternProgram, programOf } from './pattern-program.ts';

/** A longer match is found only in part. */
const maxMatchLength = 1_024;
/** A pattern that needs more is a mistake, or meant to be slow. */
const stepsPerCharacter = 12;
const leastSteps = 100_000;
/** Bounds the memory for an automaton, which is built anew beyond it. */
const maxStates = 2_000;

/** With one for the end of the text. */
const asciiCodes = 129;

/** What comes before a position. */
type Before = 'nothing' | 'word' | 'other';

/** The places in the program that are followed, in the order of preference. */
interface State {
  places: readonly number[];
  before: Before;
  ofAscii: (Transition | undefined)[];
  ofOthers: Map<string, Transition>;
}

interface Transition {
  /** A match ends before the character. */
  isMatch: boolean;
  /** Null if nothing is left to follow. */
  next: State | null;
}

export class LinearPattern {
  readonly source: string;
  readonly #program: PatternProgram;
  readonly #states = new Map<string, State>();
  /** By what comes before the match. */
  #beginnings: Partial<Record<Before, State>> = {};
  #stepsLeft = 0;
  #isSlow = false;

  /** @throws SyntaxError or UnsupportedPattern */
  constructor(source: string) {
    this.source = source;
    this.#program = programOf(source);
  }

  /**
   * All matches that are not empty, in order.
   * @throws SlowPattern
   */
  findAll(text: string): TextRange[] {
    if (this.#isSlow) throw new SlowPattern(this.source);
    this.#stepsLeft = leastSteps + text.length * stepsPerCharacter;
    const ranges: TextRange[] = [];
    for (let at = this.#candidate(text, 0); at < text.length; ) {
      const end = this.#endOfMatch(text, at);
      if (end > at) ranges.push({ start: at, end });
      at = this.#candidate(text, end > at ? end : at + characterAt(text, at).length);
    }
    return ranges;
  }

  /** Where the next match can begin, at the earliest. */
  #candidate(text: string, from: number): number {
    if (this.#program.prefix === '') return from;
    const at = text.indexOf(this.#program.prefix, from);
    return at === -1 ? text.length : at;
  }

  /** -1 if there is none. */
  #endOfMatch(text: string, start: number): number {
    let end = -1;
    let state: State | null = this.#beginning(beforeAt(text, start));
    for (let at = start; state; ) {
      if (--this.#stepsLeft < 0) this.#giveUp();
      const character = at - start < maxMatchLength ? characterAt(text, at) : '';
      const { isMatch, next } = this.#transition(state, character);
      if (isMatch) end = at;
      state = next;
      at += character.length;
    }
    return end;
  }

  #beginning(before: Before): State {
    this.#beginnings[before] ??= this.#state([this.#program.entry], before);
    return this.#beginnings[before];
  }

  #giveUp(): never {
    this.#isSlow = true;
    throw new SlowPattern(this.source);
  }

  /** `character`: empty at the end of the text. */
  #transition(state: State, character: string): Transition {
    const code = character === '' ? 0 : character.charCodeAt(0) + 1;
    const known = code < asciiCodes ? state.ofAscii[code] : state.ofOthers.get(character);
    if (known) return known;
    const transition = this.#newTransition(state, character);
    if (code < asciiCodes) state.ofAscii[code] = transition;
    else if (state.ofOthers.size < maxStates) state.ofOthers.set(character, transition);
    return transition;
  }

  #newTransition({ places, before }: State, character: string): Transition {
    const followed = this.#followed(places, before, character);
    this.#stepsLeft -= followed.length;
    const next: number[] = [];
    for (const instruction of followed) {
      // The following ones are less preferred.
      if (instruction.kind === 'match') return { isMatch: true, next: this.#stateAfter(next, character) };
      if (instruction.kind === 'character' && character !== '' && instruction.matches(character))
        next.push(instruction.next);
    }
    return { isMatch: false, next: this.#stateAfter(next, character) };
  }

  /** What the places lead to without another character, up to where each needs one. */
  #followed(places: readonly number[], before: Before, character: string): Instruction[] {
    const followed: Instruction[] = [];
    const seen = new Set<number>();
    const pending = places.toReversed();
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      const instruction = this.#program.instructions[place];
      if (!instruction || seen.has(place)) continue;
      seen.add(place);
      if (instruction.kind === 'split') pending.push(instruction.second, instruction.first);
      else if (instruction.kind !== 'assertion') followed.push(instruction);
      else if (holds(instruction, before, character)) pending.push(instruction.next);
    }
    return followed;
  }

  #stateAfter(places: readonly number[], character: string): State | null {
    return places.length === 0 ? null : this.#state(places, isWord(character) ? 'word' : 'other');
  }

  #state(places: readonly number[], before: Before): State {
    const name = `${before} ${places.join(' ')}`;
    let state = this.#states.get(name);
    if (!state) {
      if (this.#states.size === maxStates) {
        this.#states.clear();
        this.#beginnings = {};
      }
      state = { places, before, ofAscii: new Array(asciiCodes).fill(undefined), ofOthers: new Map() };
      this.#states.set(name, state);
    }
    return state;
  }
}

/** A pattern took more steps than a text of that length may take. */
export class SlowPattern extends GatewayError {
  constructor(source: string) {
    const message = `The pattern ${JSON.stringify(source)} of cassette.json takes too many steps, because its matches can begin at every character. Begin it with a fixed text.`;
    super('cassette_unusable', message);
  }
}

/** With both halves of a pair; empty at the end. */
function characterAt(text: string, at: number): string {
  const first = text.charAt(at);
  return first < '\ud800' || first > '\udbff' ? first : String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function beforeAt(text: string, at: number): Before {
  if (at === 0) return 'nothing';
  return isWord(text.charAt(at - 1)) ? 'word' : 'other';
}

function holds({ assertion }: Extract<Instruction, { kind: 'assertion' }>, before: Before, character: string): boolean {
  if (assertion === 'start') return before === 'nothing';
  if (assertion === 'end') return character === '';
  return ((before === 'word') !== isWord(character)) === (assertion === 'boundary');
}

/** What JavaScript counts as part of a word: `\w`. */
function isWord(character: string): boolean {
  return (
    (character >= 'a' && character <= 'z') ||
    (character >= '0' && character <= '9') ||
    (character >= 'A' && character <= 'Z') ||
    character === '_'
  );
}
