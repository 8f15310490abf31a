/**
 * The length of a WebM or Matroska recording: its `Duration`, which browsers leave out while they record, or else the time of
 * its last block. Source: RFC 9559 (Matroska), RFC 8794 (EBML).
 */
import { headBytes, type RecordingFile } from './recording-file.ts';

const ids = { segment: 0x18538067, info: 0x1549a966, cluster: 0x1f43b675, timestamp: 0xe7 } as const;
const infoIds = { scale: 0x2ad7b1, duration: 0x4489 } as const;
const blockIds: ReadonlySet<number> = new Set([0xa3, 0xa0]);
/** `BlockGroup`, whose first element is usually its block. */
const groupId = 0xa0;
const usualScaleNs = 1_000_000;
/** More than browsers put into one cluster of sound. */
const lastClusterBytes = 1024 * 1024;
/** Half a minute of blocks of 20 ms has 1,500. */
const maxElements = 20_000;
const clusterMark = Buffer.from('1f43b675', 'hex');

interface Element {
  id: number;
  start: number;
  /** That of the bytes, if the element has no length, as while it is recorded. */
  end: number;
}

export async function webmSeconds(file: RecordingFile, head: Buffer): Promise<number | null> {
  const segment = find(head, { id: 0, start: 0, end: head.length }, ids.segment);
  const info = segment && find(head, segment, ids.info);
  const scaleNs = info ? (numberIn(head, find(head, info, infoIds.scale)) ?? usualScaleNs) : usualScaleNs;
  const duration = info && floatIn(head, find(head, info, infoIds.duration));
  if (duration) return (duration * scaleNs) / 1e9;
  const tail =
    file.size <= headBytes ? head : await file.read(Math.max(0, file.size - lastClusterBytes), lastClusterBytes);
  const units = lastTime(tail);
  return units === null ? null : (units * scaleNs) / 1e9;
}

function lastTime(tail: Buffer): number | null {
  const at = tail.lastIndexOf(clusterMark);
  const cluster = at === -1 ? null : elementAt(tail, at, tail.length);
  const beginning = cluster && numberIn(tail, find(tail, cluster, ids.timestamp));
  if (!cluster || beginning === null) return null;
  let last = 0;
  for (const element of elementsIn(tail, cluster)) {
    if (!blockIds.has(element.id)) continue;
    const block = element.id === groupId ? elementAt(tail, element.start, element.end) : element;
    // The track has one byte where there are fewer than 127.
    if (block && block.start + 3 <= tail.length) last = Math.max(last, tail.readInt16BE(block.start + 1));
  }
  return beginning + last;
}

function* elementsIn(bytes: Buffer, { start, end }: Element): Generator<Element> {
  let element = elementAt(bytes, start, end);
  for (let count = 0; element !== null && count < maxElements; count++) {
    yield element;
    element = elementAt(bytes, element.end, end);
  }
}

function find(bytes: Buffer, within: Element, id: number): Element | null {
  for (const element of elementsIn(bytes, within)) if (element.id === id) return element;
  return null;
}

function elementAt(bytes: Buffer, at: number, end: number): Element | null {
  const idBytes = lengthOfNumber(bytes[at]);
  const sizeBytes = lengthOfNumber(bytes[at + idBytes]);
  const start = at + idBytes + sizeBytes;
  if (idBytes === 0 || idBytes > 4 || sizeBytes === 0 || start > end) return null;
  const size = sizeAt(bytes, at + idBytes, sizeBytes);
  return { id: bytes.readUIntBE(at, idBytes), start, end: size === null ? end : Math.min(end, start + size) };
}

/** By its first bit that is set; 0 if none is, or there is no byte. */
function lengthOfNumber(first = 0): number {
  return first === 0 ? 0 : Math.clz32(first) - 23;
}

/** Null if all bits are set: unknown. */
function sizeAt(bytes: Buffer, at: number, length: number): number | null {
  let size = (bytes[at] ?? 0) & (0xff >> length);
  let isUnknown = size === 0xff >> length;
  for (let each = at + 1; each < at + length; each++) {
    isUnknown &&= bytes[each] === 0xff;
    size = size * 256 + (bytes[each] ?? 0);
  }
  return isUnknown ? null : size;
}

function numberIn(bytes: Buffer, element: Element | null): number | null {
  const length = element ? element.end - element.start : 0;
  return element && length > 0 && length <= 6 ? bytes.readUIntBE(element.start, length) : null;
}

function floatIn(bytes: Buffer, element: Element | null): number | null {
  if (element === null) return null;
  const length = element.end - element.start;
  if (length === 4) return bytes.readFloatBE(element.start);
  return length === 8 ? bytes.readDoubleBE(element.start) : null;
}
