/** What `sluice faults judge` lets a client program meet, one after the other. */
export interface JudgeCase {
  name: string;
  rules: readonly string[];
}

/** The first one meets nothing: a program that fails there cannot be judged. */
export const judgeCases: readonly JudgeCase[] = [
  { name: 'no fault', rules: [] },
  { name: 'rate limit, wait told', rules: ['rate-limit;retry-after=1;first=1'] },
  { name: 'rate limit, no wait told', rules: ['rate-limit;first=1'] },
  { name: 'rate limit for good', rules: ['rate-limit'] },
  { name: 'quota spent', rules: ['quota'] },
  { name: 'overloaded once', rules: ['overloaded;first=1'] },
  { name: 'outage once', rules: ['status;code=503;first=1'] },
  { name: 'outage for good', rules: ['status;code=503'] },
  { name: 'flapping', rules: ['status;code=503;nth=1', 'reset;nth=2', 'rate-limit;retry-after=1;nth=4'] },
  { name: 'connection reset once', rules: ['reset;first=1'] },
  { name: 'silence once', rules: ['silence;seconds=10;first=1'] },
  { name: 'late first token', rules: ['late-event;ms=5000;first=1'] },
  { name: 'cut answer once', rules: ['cut;after=3;first=1'] },
  { name: 'stalled answer once', rules: ['stall;after=3;seconds=10;first=1'] },
  { name: 'damaged event once', rules: ['malformed-event;after=2;first=1'] },
  { name: 'missing end once', rules: ['missing-end;first=1'] },
  { name: 'error in a stream once', rules: ['error-event;after=2;first=1'] },
  { name: 'HTML page once', rules: ['html;first=1'] },
  { name: 'context overflow', rules: ['context-overflow'] },
  { name: 'filtered content', rules: ['filtered'] },
];

/** Faults after which the client still has its answer. */
const harmless = new Set(['late-head', 'late-event', 'pace', 'huge-event', 'usage', 'wrong-type', 'filtered']);

/** Whether the client got a whole answer with that request. */
export function wasAnswered({ outcome, fault }: { outcome: string | null; fault: string | null }): boolean {
  return outcome === 'ok' && (fault === null || fault.split(', ').every((name) => harmless.has(name)));
}
