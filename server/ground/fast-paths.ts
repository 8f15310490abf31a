/**
 * The fast paths: optimisations that go behind the back of Node, undici and V8. They are used through this door alone, which
 * has one switch for all of them (`SLUICE_FAST_PATHS=off`): without them everything works as usual and costs more, so that
 * it can be told whether one of them is at fault, for example with a new version of Node. `docs/operation.md` says what each
 * is worth.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type BatchedWrites, type BatchOptions, DelayedWrites, DirectWrites } from './batched-writes.ts';
import { endAsText, joinInPlace, writeAsText } from './joined-bytes.ts';
import { limitYoungGeneration, raiseHeapGrowth, raiseInliningLimit } from './v8-settings.ts';

let areOn = true;

/** For the whole process: for connections that are opened from now on, and for all pieces. */
export function switchFastPaths(isWanted: boolean): void {
  areOn = isWanted;
}

/** Of a process that only serves; takes effect for all of it. */
export function tuneV8(): void {
  if (!areOn) return;
  limitYoungGeneration();
  raiseHeapGrowth();
  raiseInliningLimit();
}

/** Makes the small writes to connected sockets together. */
export function batchWrites(socket: Socket, options: BatchOptions = {}): BatchedWrites {
  return areOn ? new DelayedWrites(socket, options) : new DirectWrites(socket, options);
}

/** Overwrites the memory between the pieces of one read. */
export function joinPieces(pieces: readonly [Buffer, ...Buffer[]]): Buffer {
  return areOn ? joinInPlace(pieces) : Buffer.concat(pieces);
}

/** Like `response.write`. `isFirst`: none of the body has been written, so the head may still have to be sent. */
export function writePiece(response: ServerResponse, bytes: Buffer, isFirst: boolean): boolean {
  return areOn ? writeAsText(response, bytes, isFirst) : response.write(bytes);
}

/** Like `response.end`. */
export function endWith(response: ServerResponse, last: Buffer | undefined): void {
  if (areOn) endAsText(response, last);
  else response.end(last);
}
