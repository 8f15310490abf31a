/** For `runIf`: prints why tests are skipped. */
export function onlyIf(condition: boolean, otherwise: string): boolean {
  if (!condition) console.warn(`Not run here: ${otherwise}.`);
  return condition;
}
