/**
 * Secrets in AWS's event streams, whose frames hold JSON, or JSON in base64 (`{"bytes":"…"}`). A frame without them is written anew,
 * with its length and checksums. Source: AWS, "Event stream encoding".
 */
import { crc32 } from 'node:zlib';
import type { ByteRange } from '../../apis/json/json-scan.ts';
import type { Steps } from '../../ground/promises.ts';

const lengthBytes = 4;
const preludeBytes = 12;
const checksumBytes = 4;
const inBase64 = /^(\s{0,9}\{[^{}[\]]{0,200}"bytes"\s{0,9}:\s{0,9}")([A-Za-z0-9+/=]+)(")/;

interface Frame extends ByteRange {
  headersEnd: number;
}

/** Whether the body begins with an intact prelude. */
export function isFrames(body: Buffer): boolean {
  return frameAt(body, 0) !== null;
}

/** The first `keptBytes`. `find`: the ranges of secrets in the contents of all frames, a line each. */
export function* redactFrames(
  body: Buffer,
  keptBytes: number,
  find: (contents: Buffer) => Steps<readonly (ByteRange & { isRest?: boolean })[]>,
): Steps<Buffer> {
  const frames: Frame[] = [];
  let rest = 0;
  for (let frame = frameAt(body, 0); frame; frame = frameAt(body, rest)) {
    frames.push(frame);
    rest = frame.end;
  }
  const contents = frames.map((frame) => contentOf(body.subarray(frame.headersEnd, frame.end - checksumBytes)));
  const ranges = yield* find(Buffer.concat(contents.flatMap(({ content }) => [content, newline])));
  const pieces: Buffer[] = [];
  let [from, next] = [0, 0];
  for (const [index, frame] of frames.entries()) {
    if (frame.start >= keptBytes) break;
    const { content, write } = contents[index] ?? contentOf(nothing);
    const cleaned: Buffer[] = [];
    let at = 0;
    for (let range = ranges[next]; range && range.start < from + content.length; range = ranges[++next]) {
      cleaned.push(content.subarray(at, range.start - from), range.isRest ? nothing : mark);
      at = range.end - from;
    }
    from += content.length + 1;
    const original = body.subarray(frame.start, frame.end);
    const isSame = cleaned.length === 0;
    const written = isSame
      ? original
      : withPayload(original, frame, write(Buffer.concat([...cleaned, content.subarray(at)])));
    pieces.push(frame.end > keptBytes && isSame ? written.subarray(0, keptBytes - frame.start) : written);
  }
  // What is no whole frame: of its payload nothing can be told.
  return Buffer.concat(pieces);
}

const nothing = Buffer.alloc(0);
const newline = Buffer.from('\n');
const mark = Buffer.from('[redacted]');

function frameAt(body: Buffer, start: number): Frame | null {
  if (body.length < start + preludeBytes) return null;
  const end = start + body.readUInt32BE(start);
  const headersEnd = start + preludeBytes + body.readUInt32BE(start + lengthBytes);
  const prelude = body.subarray(start, start + 2 * lengthBytes);
  const isIntact = headersEnd + checksumBytes <= end && end <= body.length;
  return isIntact && crc32(prelude) === body.readUInt32BE(start + 2 * lengthBytes) ? { start, end, headersEnd } : null;
}

interface Content {
  content: Buffer;
  /** The payload with another content. */
  write(content: Buffer): Buffer;
}

function contentOf(payload: Buffer): Content {
  const [all = '', before = '', base64 = '', after = ''] = inBase64.exec(payload.toString('latin1')) ?? [];
  if (all === '') return { content: payload, write: (content) => content };
  const rest = payload.subarray(all.length);
  return {
    content: Buffer.from(base64, 'base64'),
    write: (content) => Buffer.concat([Buffer.from(before + content.toString('base64') + after, 'latin1'), rest]),
  };
}

function withPayload(original: Buffer, { start, headersEnd }: Frame, payload: Buffer): Buffer {
  const headersLength = headersEnd - start;
  const frame = Buffer.concat([original.subarray(0, headersLength), payload, Buffer.alloc(checksumBytes)]);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(crc32(frame.subarray(0, 2 * lengthBytes)), 2 * lengthBytes);
  frame.writeUInt32BE(crc32(frame.subarray(0, -checksumBytes)), frame.length - checksumBytes);
  return frame;
}
