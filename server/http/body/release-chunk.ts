/**
 * Frees the memory of a chunk immediately; it is empty afterwards. The garbage collector would let the chunks of large bodies
 * pile up to some 64 MB first.
 *
 * Never call it for a chunk that native code may still read: one being written to a socket or file.
 */
export function releaseChunk({ buffer, byteLength }: Buffer): void {
  // Only if the chunk is the only user of its memory.
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The same for a body that owns its memory, even if it does not fill it. */
export function releaseBody({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
