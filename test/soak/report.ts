/** Prints each measurement on one line, and detects growth. */
import type { Measure } from './program.ts';

interface Figure {
  label: string;
  of(measure: Measure): number;
  /**
   * Growth counts if it exceeds this amount and a tenth of the earlier value, because caches and pools fill in the
   * beginning.
   */
  mayGrow: number;
}

const figures: readonly Figure[] = [
  { label: 'heap MB', of: ({ heapMb }) => heapMb, mayGrow: 6 },
  { label: 'young MB', of: ({ youngMb }) => youngMb, mayGrow: Number.POSITIVE_INFINITY },
  { label: 'other RSS MB', of: ({ rssMb, youngMb }) => rssMb - youngMb, mayGrow: 30 },
  { label: 'sockets', of: ({ resources }) => resources.TCPSocketWrap ?? 0, mayGrow: 20 },
  { label: 'timers', of: ({ resources }) => resources.Timeout ?? 0, mayGrow: 20 },
  { label: 'descriptors', of: ({ descriptors }) => descriptors, mayGrow: 20 },
  { label: 'spooled files', of: ({ spooledFiles }) => spooledFiles, mayGrow: 0 },
  { label: 'ledger pending', of: ({ ledgerPending }) => ledgerPending, mayGrow: 0 },
  { label: 'ledger running', of: ({ ledgerRunning }) => ledgerRunning, mayGrow: 0 },
];

export function line(minutes: number, requests: number, measure: Measure): string {
  const cells = figures.map(({ label, of }) => `${label} ${of(measure).toFixed(label.endsWith('MB') ? 1 : 0)}`);
  return [`${minutes.toFixed(1)} min`, `${requests} requests`, ...cells].join(' | ');
}

/** Describes the figures that grew from the second quarter to the last. */
export function growth(measures: readonly Measure[]): string[] {
  const quarter = Math.max(1, Math.floor(measures.length / 4));
  const early = measures.slice(quarter, 2 * quarter);
  const late = measures.slice(-quarter);
  return figures.flatMap(({ label, of, mayGrow }) => {
    const [before, after] = [median(early.map(of)), median(late.map(of))];
    const grew = after - before;
    return grew > mayGrow && grew > before * 0.1 ? [`${label} from ${before.toFixed(1)} to ${after.toFixed(1)}`] : [];
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
