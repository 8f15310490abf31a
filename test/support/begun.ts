/**
 * What a test begins now and awaits later. A test that fails in between ends it with its surroundings; the rejection is
 * then no failure of its own, and who awaits it still gets it.
 */
export function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
