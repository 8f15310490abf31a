/** Streams: many at once at the pace of a model, and a few at full speed. */
import type { Job } from './load.ts';
import { type Bench, fullConnections, measure, streamConnections, targets } from './measuring.ts';
import { forgetPeak, peakMb } from './proc.ts';
import { type Column, median, quantile } from './samples.ts';

const fullMs = 1_000;

export async function paced(bench: Bench): Promise<void> {
  const firstUs = new Map<Column, number>();
  const burstUs = new Map<Column, number>();
  for (const target of await targets(bench, true, 'streams')) {
    if (target.pid) forgetPeak(target.pid);
    const connections = Math.round(streamConnections * bench.scale);
    const job = { to: target.address, request: 'paced', connections } as const;
    const { result, usedUs } = await measure(bench, target, { kind: 'streams', ...job });
    firstUs.set(target.name, median(result.firstUs));
    if (target.pid) {
      bench.samples.add('paced.cpuUs', target.name, usedUs / result.events);
      bench.samples.add('paced.peakMb', target.name, peakMb(target.pid));
    }
    const burst = await measure(bench, target, { kind: 'burst', ...job });
    burstUs.set(target.name, quantile(burst.result.firstUs, 0.99));
  }
  const added = (times: Map<Column, number>, name: Column) =>
    (times.get(name) ?? Number.NaN) - (times.get('direct') ?? Number.NaN);
  for (const name of bench.compared()) {
    bench.samples.add('paced.firstUs', name, added(firstUs, name));
    bench.samples.add('paced.burstFirstMs', name, added(burstUs, name) / 1_000);
  }
}

export async function full(bench: Bench): Promise<void> {
  for (const request of ['full-asked', 'full'] as const) {
    const durationMs = fullMs * bench.scale;
    for (const target of await targets(bench, false)) {
      const job: Job = { kind: 'loop', to: target.address, request, connections: fullConnections, durationMs };
      const { result, usedUs } = await measure(bench, target, job);
      bench.samples.add(`${request}.mbPerSecond`, target.name, result.bytes / (result.wallMs * 1_000));
      bench.samples.add(`${request}.cpuUs`, target.name, usedUs / result.events);
    }
  }
}
