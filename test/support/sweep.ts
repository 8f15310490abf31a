/**
 * Some tests try every place of a stream, or thousands of inputs: all of them by `npm run sweeps`, which `.ci/run` calls, and
 * by `npm test` some of them, spread evenly. The command finds the files by their import of this one.
 */
export const isSweep = process.env.SLUICE_SWEEP === 'all';

/** Each `step`th, and all in a sweep. */
export function every<T>(step: number, all: readonly T[]): T[] {
  return isSweep ? [...all] : all.filter((_each, index) => index % step === 0);
}

/** How many inputs a property is tried with: in a sweep all, else a tenth. */
export function tries(all: number): number {
  return isSweep ? all : Math.ceil(all / 10);
}
