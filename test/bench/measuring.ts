/** Shared by the phases: the bench, the gateways to measure, and the measuring itself. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { RunningGateway } from './gateways.ts';
import type { GatewayName } from './launches.ts';
import type { Job, JobResult } from './load.ts';
import type { Address } from './payloads.ts';
import type { Column, Samples } from './samples.ts';

// The processes of the bench: starts them, each group on its own CPU if the system supports that, reads their resource
// usage from /proc, and ends them by their ids in all cases.

type Cpu = 'gateway' | 'load';

/** Linux reports CPU time in /proc in hundredths of a second on all machines that Node supports. */
const tickUs = 10_000;
const cpuNumbers: Record<Cpu, string> = { gateway: '0', load: '1' };
const endMs = 5_000;

export const canMeasure = existsSync('/proc/self/stat');
export const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of started) killTree(child);
});
for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
  process.on(signal, () => process.exit(code));
}

/** @param command the program and its arguments */
export function startProgram(command: readonly string[], cpu: Cpu, options: SpawnOptions): ChildProcess {
  const pinning = isPinned ? ['taskset', '-c', cpuNumbers[cpu]] : [];
  const [program = '', ...rest] = [...pinning, ...command];
  const child = spawn(program, rest, options);
  started.add(child);
  child.on('exit', () => started.delete(child));
  return child;
}

/** Asks the process to end, and kills it if it does not. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (!started.has(child)) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => killTree(child), endMs);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(timer);
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return;
  for (const pid of canMeasure ? tree(child.pid) : [child.pid]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

/**
 * User and system time of a process and its descendants so far, including ended children; NaN if it cannot be measured.
 */
export function cpuUs(root: number): number {
  if (!canMeasure) return Number.NaN;
  let ticks = 0;
  for (const pid of tree(root)) for (const field of statFields(pid).slice(11, 15)) ticks += Number(field);
  return ticks * tickUs;
}

/**
 * Like `cpuUs`, but to the nanosecond, and only for the process's own threads that are still running. For durations of
 * a few ticks or less.
 */
export function exactCpuUs(pid: number): number {
  if (!canMeasure) return Number.NaN;
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map((thread) => Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]));
  return ns.reduce((sum, each) => sum + each, 0) / 1_000;
}

export function rssMb(root: number): number {
  return statusMb(root, 'VmRSS');
}

/** Without file-backed and shared memory, such as the pages of the program itself. */
export function ownMb(root: number): number {
  return statusMb(root, 'RssAnon');
}

/** The peak memory since `forgetPeak`. */
export function peakMb(root: number): number {
  return statusMb(root, 'VmHWM');
}

export function forgetPeak(root: number): void {
  if (!canMeasure) return;
  for (const pid of tree(root)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMb(root: number, field: string): number {
  if (!canMeasure) return Number.NaN;
  let kb = 0;
  for (const pid of tree(root))
    kb += Number(new RegExp(`${field}:\\s+(\\d+)`).exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  return kb / 1024;
}

function tree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(statFields(Number(name))[1]));
  }
  const found = [root];
  for (const parent of found) for (const [pid, of] of parents) if (of === parent) found.push(pid);
  return found;
}

/** The fields after the command's name, which may itself contain spaces and parentheses. */
function statFields(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

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
