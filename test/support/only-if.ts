/** For `runIf`: says why what follows is not run. */
export function onlyIf(condition: boolean, otherwise: string): boolean {
  if (!condition) console.warn(`Not run here: ${otherwise}.`);
  return condition;
}
