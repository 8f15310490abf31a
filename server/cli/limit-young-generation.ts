/**
 * Keeps V8's young generation at a size that suits a gateway. V8 doubles it, up to 128 MB in Node 24, whenever enough
 * objects survive a collection, as the buffers of 200 streams do. Above 32 MB this costs memory and longer pauses and
 * saves no CPU; with 16 MB a plain request takes 5 % more. `--max-semi-space-size=16` on Node's command line has the
 * same effect, but users should not have to write it.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { every } from '../ground/timers.ts';

/** Total size of both semi-spaces. */
const maxBytes = 32 * 1024 * 1024;
/**
 * V8 shrinks the young generation at the first collection after a pause, when requests come again. At its smallest it
 * is collected every 2 ms, and a request takes a quarter more CPU, until it may grow. A check takes 20 µs.
 */
const shrunkCheckMs = 500;

/**
 * Takes effect for the whole process. V8 reads the flag each time the young generation could grow. V8 also shrinks the
 * young generation in idle times, so it must be allowed to grow again. Under load, when it has its full size,
 * collections are not observed: that would take 3 % of a plain request's CPU. Returns the function that undoes this.
 */
export function limitYoungGeneration(): () => void {
  let timer: NodeJS.Timeout | undefined;
  const collections = new PerformanceObserver(() => {
    if (youngBytes() >= maxBytes) hold();
  });
  const allow = () => {
    clearInterval(timer);
    setFlagsFromString('--semi-space-growth-factor=2');
  };
  const hold = () => {
    collections.disconnect();
    setFlagsFromString('--semi-space-growth-factor=1');
    timer = every(() => {
      if (youngBytes() < maxBytes) watch();
    }, shrunkCheckMs).unref();
  };
  const watch = () => {
    allow();
    collections.observe({ entryTypes: ['gc'] });
  };
  watch();
  return () => {
    collections.disconnect();
    allow();
  };
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
