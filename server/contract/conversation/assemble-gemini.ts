/** Assembles the chunks of a Gemini answer. */
import { type Json, numberOf, objectOf, objectsOf } from './json-values.ts';

export function assembleGemini(chunks: readonly Json[]): { answer: Json; isComplete: boolean } {
  let answer: Json = {};
  const candidates = new Map<number, Json>();
  for (const { candidates: chunkCandidates, ...rest } of chunks) {
    answer = { ...answer, ...rest };
    for (const candidate of objectsOf(chunkCandidates)) mergeCandidate(candidates, candidate);
  }
  const whole = [...candidates.entries()].sort(([one], [other]) => one - other).map(([, candidate]) => candidate);
  const isComplete = whole.length > 0 && whole.every(({ finishReason }) => Boolean(finishReason));
  return { answer: { candidates: whole, ...answer }, isComplete };
}

function mergeCandidate(candidates: Map<number, Json>, { content, ...rest }: Json): void {
  const index = numberOf(rest.index) ?? 0;
  const candidate = candidates.get(index) ?? {};
  const old = objectOf(candidate.content);
  const parts = objectsOf(objectOf(content).parts).reduce(withPart, objectsOf(old.parts));
  candidates.set(index, { ...candidate, ...rest, content: { ...old, ...objectOf(content), parts } });
}

/** Consecutive texts are joined, and so are consecutive thoughts. */
function withPart(parts: Json[], part: Json): Json[] {
  const last = parts.at(-1);
  const isMore =
    last !== undefined &&
    typeof part.text === 'string' &&
    typeof last.text === 'string' &&
    Boolean(part.thought) === Boolean(last.thought);
  return isMore ? [...parts.slice(0, -1), { ...last, ...part, text: `${last.text}${part.text}` }] : [...parts, part];
}
