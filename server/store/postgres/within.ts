/** Settles as the work does; resolves after this time if it has not: a server that hangs must not hold up who waits. */
export function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(resolve, limitMs);
    work.then(() => resolve(), reject).finally(() => clearTimeout(limit));
  });
}
