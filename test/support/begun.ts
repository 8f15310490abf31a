/**
 * For a promise that a test starts now and awaits later. If the test fails in between, the promise may reject during
 * the clean-up. That rejection then does not count as a failure of its own, but is still passed to code that awaits the
 * promise.
 */
export function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
