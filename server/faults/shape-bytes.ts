/**
 * Faults of a response that do not depend on events: stops at a byte, late bodies, and answers that are not streams.
 */
import { gzipSync } from 'node:zlib';
import { changeUsage, editJson, filterContent } from './edit-event.ts';
import type { FaultOf, ResponseFault } from './fault-kinds.ts';
import { insideCharacter, type Shape, type Step, send } from './steps.ts';

/** Waits before the first byte. */
export class LateBytes implements Shape {
  readonly #ms: number;
  #hasBegun = false;

  constructor({ ms }: FaultOf<'late-event'>) {
    this.#ms = ms;
  }

  push(bytes: Buffer): Step[] {
    if (this.#hasBegun) return [send(bytes)];
    this.#hasBegun = true;
    return [{ kind: 'wait', ms: this.#ms }, send(bytes)];
  }

  end(): Step[] {
    return [];
  }
}

/** Stops after the given number of bytes. */
export class StopAtByte implements Shape {
  readonly #stop: Step;
  #bytesLeft: number;

  constructor(bytes: number, stop: Step) {
    this.#bytesLeft = bytes;
    this.#stop = stop;
  }

  push(bytes: Buffer): Step[] {
    const passing = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= passing.length;
    return passing.length < bytes.length ? [send(passing), this.#stop] : [send(passing)];
  }

  end(): Step[] {
    return [];
  }
}

/** Longer answers are downloads. They are not held in memory, and pass unchanged. */
const maxHeldBytes = 4 * 1024 * 1024;

/** Holds an answer until its end and changes it as a whole. */
class HeldWhole implements Shape {
  readonly #change: (whole: Buffer) => Step[];
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  constructor(change: (whole: Buffer) => Step[]) {
    this.#change = change;
  }

  push(bytes: Buffer): Step[] {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes + bytes.length) return [send(bytes)];
    this.#chunks.push(bytes);
    return this.#heldBytes > maxHeldBytes ? this.#release().map(send) : [];
  }

  end(): Step[] {
    return this.#chunks.length === 0 ? [] : this.#change(Buffer.concat(this.#release()));
  }

  #release(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }
}

/** The effect of a fault on an answer that is not a stream; null if it does not affect the body. */
export function shapeWhole(fault: ResponseFault): Shape | null {
  switch (fault.name) {
    case 'late-event':
      return new LateBytes(fault);
    case 'stall':
    case 'cut':
      return stopIn(fault);
    case 'malformed-event':
      return new HeldWhole((whole) => [send(whole.subarray(0, Math.ceil(whole.length / 2)))]);
    case 'usage':
      return new HeldWhole((whole) => [send(editJson(whole, (value) => changeUsage(value, fault.change)))]);
    case 'filtered':
      return new HeldWhole((whole) => [send(editJson(whole, filterContent))]);
    case 'damaged-gzip':
      return new HeldWhole((whole) => [send(damagedGzip(whole))]);
    default:
      return null;
  }
}

export type Stopping = FaultOf<'stall'> | FaultOf<'cut'>;

export function stopOf(fault: Stopping): Step {
  return fault.name === 'cut' ? { kind: 'cut' } : { kind: 'stall', seconds: fault.seconds };
}

/** Stops at the given byte, otherwise in the middle, because an answer that is not a stream has no events. */
function stopIn(fault: Stopping): Shape {
  const stop = stopOf(fault);
  if (fault.bytes !== undefined) return new StopAtByte(fault.bytes, stop);
  const isInCharacter = fault.name === 'cut' && fault.inside === 'character';
  return new HeldWhole((whole) => {
    const middle = Math.floor(whole.length / 2);
    const at = isInCharacter ? (insideCharacter(whole) ?? middle) : middle;
    return [send(whole.subarray(0, at)), stop];
  });
}

/** The second half of the compressed bytes is overwritten. */
export function damagedGzip(bytes: Buffer): Buffer {
  const packed = gzipSync(bytes);
  packed.fill(0xff, Math.floor(packed.length / 2));
  return packed;
}
