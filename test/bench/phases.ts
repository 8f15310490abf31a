/** What is done in each round, phase by phase, and which figures it gives. Every gateway does each phase, in turning order. */
import { desktopPhase } from './desktop-phase.ts';
import type { GatewayName, RunningGateway } from './gateways.ts';
import type { Job, JobResult } from './load.ts';
import { cpuUs, forgetPeak, peakMb } from './proc.ts';
import { type Column, median, quantile, type Samples } from './samples.ts';
import { windowPhase } from './window-phase.ts';

/** What a phase works with. */
export interface Bench {
  samples: Samples;
  /** From 0. */
  round: number;
  upstreamPort: number;
  /** Of the usual durations and counts, the share to be taken. */
  scale: number;
  load(job: Job): Promise<JobResult>;
  /** A new one, to be stopped by the phase. */
  start(name: GatewayName): Promise<RunningGateway>;
  /** The one that serves the phases of this kind in all rounds, warmed up. */
  running(name: GatewayName, use?: GatewayUse): Promise<RunningGateway>;
}

/** What a long-lived gateway is for. */
type GatewayUse = 'any' | 'streams';

const compared: readonly GatewayName[] = ['pipe', 'express', 'sluice'];
const plainConnections = 32;
const plainMs = 1_200;
const streamConnections = 200;
const fullConnections = 16;
const fullMs = 1_000;
const alternations = 1_000;
const uploads = 8;
const startsPerRound = 2;
const growthMs = 1_000;
const warmUpLimitMs = 3_000;
const warmUps = [
  ['full', 100],
  ['full-asked', 100],
  ['long-question', 1_000],
  ['short', 10_000],
] as const;

export const phases: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  start,
  latency,
  plain,
  paced,
  full,
  upload,
  growth,
  window: windowPhase,
  desktop: desktopPhase,
};

/**
 * Takes a gateway through what it will be asked, so that its hot code is compiled before anything counts. Paced streams
 * have gateways of their own, so that their memory is not that of earlier phases.
 */
export async function warmUp(bench: Bench, { port }: RunningGateway, use: GatewayUse): Promise<void> {
  if (use === 'streams') {
    await bench.load({ kind: 'streams', port, request: 'paced', connections: streamConnections * bench.scale });
    return;
  }
  for (const [request, count] of warmUps) {
    const job = { kind: 'loop', port, request, connections: fullConnections, durationMs: warmUpLimitMs } as const;
    await bench.load({ ...job, count: Math.ceil(count * bench.scale) });
  }
}

async function start(bench: Bench): Promise<void> {
  // The first start of all reads the program from the disk.
  const uncounted = bench.round === 0 ? 1 : 0;
  const starts = uncounted + Math.ceil(startsPerRound * bench.scale);
  for (let number = 0; number < starts; number++) {
    for (const name of turned(compared, bench.round)) {
      const gateway = await bench.start(name);
      await gateway.stop();
      if (number < uncounted) continue;
      bench.samples.add('start.firstAnswerMs', name, gateway.firstAnswerMs);
      bench.samples.add('start.idleMb', name, gateway.idleRssMb);
    }
  }
}

async function latency(bench: Bench): Promise<void> {
  for (const name of turned(compared, bench.round)) {
    const gateway = await bench.running(name);
    const count = Math.round(alternations * bench.scale);
    const ports: [number, number] = [bench.upstreamPort, gateway.port];
    const { result } = await measure(bench, gateway, { kind: 'alternate', ports, request: 'short', count });
    for (const [share, figure] of [[0.5, 'latency.p50Us'] as const, [0.99, 'latency.p99Us'] as const]) {
      const added = quantile(result.secondUs, share) - quantile(result.firstUs, share);
      bench.samples.add(figure, name, added);
    }
  }
}

async function plain(bench: Bench): Promise<void> {
  for (const request of ['short', 'long-question', 'long-answer'] as const) {
    const durationMs = plainMs * bench.scale;
    for (const target of await targets(bench, request === 'short')) {
      const job: Job = { kind: 'loop', port: target.port, request, connections: plainConnections, durationMs };
      const { result, usedUs } = await measure(bench, target, job);
      bench.samples.add(`plain.${request}.perSecond`, target.name, result.done / (result.wallMs / 1_000));
      if (target.name === 'direct') continue;
      bench.samples.add(`plain.${request}.cpuUs`, target.name, usedUs / result.done);
      bench.samples.add(`plain.${request}.busyPercent`, target.name, usedUs / (result.wallMs * 10));
    }
  }
}

async function paced(bench: Bench): Promise<void> {
  const firstUs = new Map<Column, number>();
  for (const target of await targets(bench, true, 'streams')) {
    if (target.pid) forgetPeak(target.pid);
    const connections = Math.round(streamConnections * bench.scale);
    const job: Job = { kind: 'streams', port: target.port, request: 'paced', connections };
    const { result, usedUs } = await measure(bench, target, job);
    firstUs.set(target.name, median(result.firstUs));
    if (!target.pid) continue;
    bench.samples.add('paced.cpuUs', target.name, usedUs / result.events);
    bench.samples.add('paced.peakMb', target.name, peakMb(target.pid));
  }
  const direct = firstUs.get('direct') ?? Number.NaN;
  for (const name of compared) bench.samples.add('paced.firstUs', name, (firstUs.get(name) ?? Number.NaN) - direct);
}

async function full(bench: Bench): Promise<void> {
  for (const request of ['full-asked', 'full'] as const) {
    const durationMs = fullMs * bench.scale;
    for (const target of await targets(bench, false)) {
      const job: Job = { kind: 'loop', port: target.port, request, connections: fullConnections, durationMs };
      const { result, usedUs } = await measure(bench, target, job);
      bench.samples.add(`${request}.mbPerSecond`, target.name, result.bytes / (result.wallMs * 1_000));
      bench.samples.add(`${request}.cpuUs`, target.name, usedUs / result.events);
    }
  }
}

/** On a gateway that has done nothing yet, so that memory in use by earlier phases does not hide what uploads need. */
async function upload(bench: Bench): Promise<void> {
  for (const name of turned(compared, bench.round)) {
    const gateway = await bench.start(name);
    forgetPeak(gateway.pid);
    const ask = (count: number) =>
      measure(bench, gateway, {
        kind: 'loop',
        port: gateway.port,
        request: 'upload',
        connections: 1,
        durationMs: 20_000,
        count,
      });
    await ask(2);
    const { result, usedUs } = await ask(Math.ceil(uploads * bench.scale));
    bench.samples.add('upload.cpuMs', name, usedUs / result.done / 1_000);
    bench.samples.add('upload.growthMb', name, peakMb(gateway.pid) - gateway.idleRssMb);
    await gateway.stop();
  }
}

/** Sluice without a past and with much of one, each twice in a round, the other way round the second time. */
async function growth(bench: Bench): Promise<void> {
  const usedUs: Record<string, number> = {};
  const done: Record<string, number> = {};
  for (const name of ['sluice-empty', 'sluice-full', 'sluice-full', 'sluice-empty'] as const) {
    const gateway = await bench.running(name);
    const durationMs = growthMs * bench.scale;
    const job: Job = { kind: 'loop', port: gateway.port, request: 'short', connections: plainConnections, durationMs };
    const measured = await measure(bench, gateway, job);
    usedUs[name] = (usedUs[name] ?? 0) + measured.usedUs;
    done[name] = (done[name] ?? 0) + measured.result.done;
  }
  for (const name of ['sluice-empty', 'sluice-full'] as const) {
    bench.samples.add('growth.cpuUs', name, (usedUs[name] ?? 0) / (done[name] ?? 0));
  }
}

interface LoadTarget {
  name: Column;
  port: number;
  /** 0 where nothing stands between load generator and upstream. */
  pid: number;
}

async function targets(bench: Bench, withDirect: boolean, use: GatewayUse = 'any'): Promise<LoadTarget[]> {
  const found: LoadTarget[] = withDirect ? [{ name: 'direct', port: bench.upstreamPort, pid: 0 }] : [];
  for (const name of turned(compared, bench.round)) found.push(await bench.running(name, use));
  return found;
}

async function measure(bench: Bench, target: LoadTarget, job: Job): Promise<{ result: JobResult; usedUs: number }> {
  const beforeUs = target.pid ? cpuUs(target.pid) : 0;
  const result = await bench.load(job);
  const usedUs = target.pid ? cpuUs(target.pid) - beforeUs : 0;
  bench.samples.addErrors(target.name, result.errors);
  return { result, usedUs };
}

function turned<T>(list: readonly T[], by: number): T[] {
  const first = by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
