/**
 * How much work something is, told by processor time in a way that a slow or busy machine, or the counters of a coverage run,
 * do not change: beside a reference piece of work that is measured in the same process right before and after it.
 */

/** The system counts a thread's time only at its ticks, which are at most this far apart. */
const tickMs = 10;

/**
 * Milliseconds of processor time that work takes on this thread, or a little more. Others that keep the machine busy do not
 * count, nor does what this process collects and compiles on threads of its own.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const [processBefore, threadBefore] = [process.cpuUsage(), process.threadCpuUsage()];
  await work();
  const [processTime, threadTime] = [process.cpuUsage(processBefore), process.threadCpuUsage(threadBefore)];
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  // The process's time is exact and counts too much; the thread's is late by a tick at most.
  return Math.min(ms(processTime), ms(threadTime) + tickMs);
}

const referenceText = Buffer.from('{"name":"a value, and \\"one\\" in quotes","list":[1,2,{}]},'.repeat(10_000));

/** What any parser does at the least: one look at each byte of 600 kB, and a little state. */
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
 * How many times as long as the reference work takes: the least of a few rounds, until it is below `enough`, since the first may
 * have had the code compiled or memory collected.
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
 * How many times as long as on an idle machine work takes here just now, because others use the processors: 1 where nobody
 * does. For limits on what a person waits for, which has to be measured by the clock.
 */
export function slownessOfMachine(): number {
  const [startedAt, before] = [performance.now(), process.threadCpuUsage()];
  for (let round = 0; round < paceRounds; round++) goThroughReference();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, (performance.now() - startedAt) / ((user + system) / 1_000));
}
