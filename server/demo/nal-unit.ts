/** A NAL unit of H.264 (ITU-T H.264, 7.3.1): header byte and payload, in which nothing looks like a start code. */
export function nalUnit(header: number, payload: Uint8Array): Buffer {
  const pieces: Uint8Array[] = [Uint8Array.of(header)];
  let copied = 0;
  let zeros = 0;
  for (const [index, byte] of payload.entries()) {
    // Two zeros and a byte up to 3 are kept apart by a 3, which decoders take out again.
    if (zeros >= 2 && byte <= 3) {
      pieces.push(payload.subarray(copied, index), Uint8Array.of(3));
      copied = index;
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  pieces.push(payload.subarray(copied));
  return Buffer.concat(pieces);
}
