import type { SharedCountsProblem, SharedCountsView } from '../contract/replica-limits.ts';
import { localTime } from './shown.ts';

const problems: Record<SharedCountsProblem, string> = {
  unreachable: 'it cannot be reached',
  slow: 'it does not answer in time',
  'read-only': 'it cannot be written to',
  'out-of-memory': 'its memory is full',
  'credential-refused': 'it refuses user or password',
  'not-permitted': 'its user may not run scripts',
  'not-ready': 'it is not ready',
};

/** Where limits are counted, as text for a person. */
export function describeSharedCounts({ address, problem, sinceMs, replicas }: SharedCountsView): string {
  const count = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`;
  if (problem === null) return `counted together by ${count} at ${address}`;
  const share = replicas === 1 ? 'this replica counts alone' : `each of ${count} allows its share`;
  return `${address} cannot be used since ${localTime(sinceMs)}: ${problems[problem]}; ${share}`;
}
