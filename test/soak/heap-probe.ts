/**
 * Loaded into the measured program with `--import`. When asked, it reports to its parent the memory in use after a
 * garbage collection.
 */
import { getHeapSpaceStatistics } from 'node:v8';

export interface Held {
  heapMb: number;
  rssMb: number;
  /** V8's space for new objects. It grows with the load to some 100 MB, and is nearly empty after a collection. */
  youngMb: number;
  /** Resources that keep the event loop alive, by type. */
  resources: Record<string, number>;
}

const megabyte = 1024 * 1024;

process.on('message', () => {
  global.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  process.send?.({
    heapMb: (heapUsed + external) / megabyte,
    rssMb: rss / megabyte,
    youngMb: youngBytes() / megabyte,
    resources,
  } satisfies Held);
});
function youngBytes(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name }) => space_name.startsWith('new_'));
  return young.reduce((sum, { physical_space_size }) => sum + physical_space_size, 0);
}

// The probe alone must not keep the program alive.
process.channel?.unref();
