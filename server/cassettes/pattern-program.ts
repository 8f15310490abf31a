/** Regular expressions as instructions that can be followed at once (Thompson 1968). */
import { type Assertion, type PatternNode, parsePattern, UnsupportedPattern } from './parse-pattern.ts';

export type Instruction =
  | { kind: 'character'; matches: (character: string) => boolean; next: number }
  | { kind: 'assertion'; assertion: Assertion; next: number }
  /** The first is preferred. */
  | { kind: 'split'; first: number; second: number }
  | { kind: 'match' };

export interface PatternProgram {
  instructions: readonly Instruction[];
  /** Where it begins. */
  entry: number;
  /** What every match begins with. */
  prefix: string;
}

/** Counted repetitions are written out. */
const maxInstructions = 1_000;

/** @throws SyntaxError or UnsupportedPattern */
export function programOf(source: string): PatternProgram {
  const writer = new ProgramWriter();
  const node = parsePattern(source);
  return {
    entry: writer.write(node, writer.add({ kind: 'match' })),
    instructions: writer.instructions,
    prefix: prefixOf(node),
  };
}

class ProgramWriter {
  readonly instructions: Instruction[] = [];

  add(instruction: Instruction): number {
    if (this.instructions.length === maxInstructions) throw new UnsupportedPattern('it is too long');
    return this.instructions.push(instruction) - 1;
  }

  /** Returns the place at which the node begins; `next` is where it goes on. */
  write(node: PatternNode, next: number): number {
    if (node.kind === 'character') return this.add({ kind: 'character', matches: node.matches, next });
    if (node.kind === 'assertion') return this.add({ ...node, next });
    if (node.kind === 'sequence') return node.parts.reduceRight((after, part) => this.write(part, after), next);
    if (node.kind === 'repeat') return this.#repeat(node, next);
    const places = node.parts.map((part) => this.write(part, next));
    return places.reduceRight((second, first) => this.add({ kind: 'split', first, second }));
  }

  #repeat({ part, least, most, isGreedy }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    if (least > maxInstructions) throw new UnsupportedPattern('it is too long');
    const leave = (inside: number, outside: number) =>
      isGreedy ? { first: inside, second: outside } : { first: outside, second: inside };
    let place = next;
    if (most === Number.POSITIVE_INFINITY) {
      place = this.add({ kind: 'split', first: next, second: next });
      this.instructions[place] = { kind: 'split', ...leave(this.write(part, place), next) };
    } else {
      for (let count = least; count < most; count++)
        place = this.add({ kind: 'split', ...leave(this.write(part, place), next) });
    }
    for (let count = 0; count < least; count++) place = this.write(part, place);
    return place;
  }
}

function prefixOf(node: PatternNode): string {
  const [only, ...others] = node.kind === 'choice' ? node.parts : [node];
  if (only === undefined || others.length > 0) return '';
  if (only.kind === 'character') return only.literal ?? '';
  if (only.kind !== 'sequence') return '';
  let prefix = '';
  for (const part of only.parts) {
    if (part.kind !== 'character' || part.literal === undefined) break;
    prefix += part.literal;
  }
  return prefix;
}
