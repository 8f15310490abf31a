/**
 * Gives the memory of a chunk back at once, for whoever read it last: it is empty afterwards. Left to the garbage collector,
 * the chunks of a large body lie about until there are some 64 MB of them, and are then looked for among everything else.
 *
 * Never for a chunk that something may still be reading natively: a socket or a file that it is being written to.
 */
export function releaseChunk({ buffer, byteLength }: Buffer): void {
  // Of a larger piece of memory it is not the only user.
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The same for a body, however much of its memory it takes up: nobody else has any of that. */
export function releaseBody({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
