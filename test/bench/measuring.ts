/** Shared by the phases: the bench, the gateways to measure, and the measuring itself. */
import type { RunningGateway } from './gateways.ts';
import type { GatewayName } from './launches.ts';
import type { Job, JobResult } from './load.ts';
import type { Address } from './payloads.ts';
import { cpuUs } from './proc.ts';
import type { Column, Samples } from './samples.ts';

/** The environment of a phase. */
export interface Bench {
  samples: Samples;
  /** Starting at 0. */
  round: number;
  upstreamPort: number;
  /** The fraction of the usual durations and counts to use. */
  scale: number;
  /** The gateways to compare. */
  compared(): readonly GatewayName[];
  load(job: Job): Promise<JobResult>;
  /** Starts a new gateway, which the phase must stop. */
  start(name: GatewayName): Promise<RunningGateway>;
  /** The warmed-up gateway for phases of this kind, the same in all rounds. */
  running(name: GatewayName, use?: GatewayUse): Promise<RunningGateway>;
}

/** The purpose of a long-lived gateway. */
export type GatewayUse = 'any' | 'streams';

export const streamConnections = 200;
export const fullConnections = 16;
const warmUpLimitMs = 3_000;
const warmUps = [
  ['full', 100],
  ['full-asked', 100],
  ['long-question', 1_000],
  ['short', 10_000],
] as const;

/**
 * Sends a gateway the kinds of requests that follow, so that its hot code is compiled before the measurement. Paced
 * streams have separate gateways, so that memory of earlier phases does not count.
 */
export async function warmUp(bench: Bench, { address }: RunningGateway, use: GatewayUse): Promise<void> {
  if (use === 'streams') {
    await bench.load({ kind: 'streams', to: address, request: 'paced', connections: streamConnections * bench.scale });
    return;
  }
  for (const [request, count] of warmUps) {
    const job = {
      kind: 'loop',
      to: address,
      request,
      connections: fullConnections,
      durationMs: warmUpLimitMs,
    } as const;
    await bench.load({ ...job, count: Math.ceil(count * bench.scale) });
  }
}

interface LoadTarget {
  name: Column;
  address: Address;
  /** 0 if there is no gateway between load generator and upstream. */
  pid: number;
}

export async function targets(bench: Bench, withDirect: boolean, use: GatewayUse = 'any'): Promise<LoadTarget[]> {
  const found: LoadTarget[] = withDirect ? [{ name: 'direct', address: { port: bench.upstreamPort }, pid: 0 }] : [];
  for (const name of turned(bench.compared(), bench.round)) found.push(await bench.running(name, use));
  return found;
}

export async function measure(
  bench: Bench,
  target: LoadTarget,
  job: Job,
): Promise<{ result: JobResult; usedUs: number }> {
  const beforeUs = target.pid ? cpuUs(target.pid) : 0;
  const result = await bench.load(job);
  const usedUs = target.pid ? cpuUs(target.pid) - beforeUs : 0;
  bench.samples.addErrors(target.name, result.errors);
  return { result, usedUs };
}

export function turned<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
