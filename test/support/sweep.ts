/**
 * Some tests cover every position in a stream, or thousands of inputs. `npm run sweeps`, which `.ci/run` calls, tries
 * all of them; `npm test` tries an evenly distributed subset. The command finds these test files by their import of
 * this file.
 */
export const isSweep = process.env.SLUICE_SWEEP === 'all';

/** Every `step`th element; all elements in a sweep. */
export function every<T>(step: number, all: readonly T[]): T[] {
  return isSweep ? [...all] : all.filter((_each, index) => index % step === 0);
}

/** The number of inputs for a property: all in a sweep, otherwise a tenth. */
export function tries(all: number): number {
  return isSweep ? all : Math.ceil(all / 10);
}
