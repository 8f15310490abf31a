/** Settings of V8 that suit a gateway. They hold for the whole process, and users should not have to write them. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { every } from './timers.ts';

/** Total size of both semi-spaces. */
const maxBytes = 32 * 1024 * 1024;
/**
 * V8 shrinks the young generation at the first collection after a pause, when requests come again. At its smallest it
 * is collected every 2 ms, and a request takes a quarter more CPU, until it may grow. A check takes 20 µs.
 */
const shrunkCheckMs = 500;

/**
 * Keeps V8's young generation at a size that suits a gateway. V8 doubles it, up to 128 MB in Node 24, whenever enough
 * objects survive a collection, as the buffers of 200 streams do. Above 32 MB this costs memory and longer pauses and
 * saves no CPU; with 16 MB a plain request takes 5 % more. `--max-semi-space-size=16` on Node's command line has the
 * same effect.
 *
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

/**
 * Lets V8's old generation grow to four times its live size before it is collected, at any time. By default V8 allows that
 * under load only; after a pause it allows a few MB. Then the first streams met a collection, which delayed the first
 * events of 200 of them by 45 ms instead of 2 to 4 at the last percentile. Twice the live size saves 25 MB, but at full
 * speed, where buffers count towards it, streams met twelve collections a second instead of none and passed half the bytes.
 * `--heap-growing-percent=300` on Node's command line has the same effect. Takes effect from the next collection on.
 */
export function raiseHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=300');
}

/**
 * Lets V8's optimising compiler inline more calls. A request passes through many short functions, and by default V8
 * inlines at most 920 bytes of bytecode into each optimised function, so that most of their calls remain.
 * `--max-inlined-bytecode-size-cumulative=2000` on Node's command line has the same effect. Takes effect from the next
 * optimised function on.
 */
export function raiseInliningLimit(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=2000');
}
