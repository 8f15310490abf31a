import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory that this process uses after a full garbage collection. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose_gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('There is no way to collect garbage here.');
  collect();
  return process.memoryUsage();
}

/**
 * Measures work by processor time, relative to a reference piece of work that is measured in the same process directly
 * before and after it. The result does not depend on a slow or busy machine or on the counters of a coverage run.
 */

/** The system updates a thread's time only at its ticks, which are at most this far apart. */
const tickMs = 10;

/**
 * Milliseconds of processor time that work takes on this thread, or slightly more. Other busy processes do not count,
 * and neither do garbage collection and compilation on this process's other threads.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const [processBefore, threadBefore] = [process.cpuUsage(), process.threadCpuUsage()];
  await work();
  const [processTime, threadTime] = [process.cpuUsage(processBefore), process.threadCpuUsage(threadBefore)];
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  // The process time is exact but includes other threads; the thread time lags by one tick at most.
  return Math.min(ms(processTime), ms(threadTime) + tickMs);
}

const referenceText = Buffer.from('{"name":"a value, and \\"one\\" in quotes","list":[1,2,{}]},'.repeat(10_000));

/** The minimum that any parser does: look at each byte of 600 kB, and keep a little state. */
function goThroughReference(): number {
  let [depth, strings, isInString] = [0, 0, false];
  for (let at = 0; at < referenceText.length; at++) {
    const byte = referenceText[at];
    if (byte === 0x5c) at++;
    else if (byte === 0x22) {
      isInString = !isInString;
      strings++;
    } else if (!isInString && (byte === 0x7b || byte === 0x5b)) depth++;
    else if (!isInString && (byte === 0x7d || byte === 0x5d)) depth--;
  }
  return depth + strings;
}

for (let round = 0; round < 10; round++) goThroughReference();

/**
 * The duration of the work as a multiple of the reference work. Takes the minimum of a few rounds, and stops once it is
 * below `enough`, because early rounds may include compilation or garbage collection.
 */
export async function leastWorkOf(work: () => unknown, enough: number, rounds = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round === 0 || (round < rounds && least >= enough); round++) {
    const before = await cpuMsOf(goThroughReference);
    const ms = await cpuMsOf(work);
    const after = await cpuMsOf(goThroughReference);
    least = Math.min(least, ms / Math.min(before, after));
  }
  return least;
}

const paceRounds = 250;

/**
 * How many times longer work currently takes than on an idle machine, because other processes use the processors; 1 if
 * none does. For limits on the time that a person waits, which must be measured by the clock.
 */
export function slownessOfMachine(): number {
  const [startedAt, before] = [performance.now(), process.threadCpuUsage()];
  for (let round = 0; round < paceRounds; round++) goThroughReference();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, (performance.now() - startedAt) / ((user + system) / 1_000));
}

/**
 * A time limit of an idle machine, up to four times longer while other processes use the processors. For silence that
 * must be told from the delays of a busy machine, and for what has to happen soon.
 */
export function stretched(ms: number): number {
  return Math.round(ms * Math.min(4, slownessOfMachine()));
}
