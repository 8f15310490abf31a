/** A step in sending a client's response. */
export type Step =
  | { kind: 'send'; bytes: Buffer }
  | { kind: 'wait'; ms: number }
  /** Nothing more is sent, but the connection stays open for this long. */
  | { kind: 'stall'; seconds: number }
  /** The connection is closed in the middle of the response. */
  | { kind: 'cut' }
  /** The response ends as if it were complete, and the rest is discarded. */
  | { kind: 'end' };

export const send = (bytes: Buffer): Step => ({ kind: 'send', bytes });

/** Changes one response while it is sent. Pure: bytes in, steps out. */
export interface Shape {
  /** Keeps the bytes; the steps may refer to parts of them. */
  push(bytes: Buffer): Step[];
  /** Called after the last byte; the response then ends. */
  end(): Step[];
}

const upperBits = 0xc0;
const leadBits = 0xc0;

/** An offset within the first multi-byte character; null if there is none. */
export function insideCharacter(bytes: Buffer): number | null {
  const lead = bytes.findIndex((byte) => (byte & upperBits) === leadBits);
  return lead === -1 || lead + 1 >= bytes.length ? null : lead + 1;
}
