/**
 * The length of recordings that consist of boxes with a name and a size. Sources: Microsoft and IBM, "Multimedia Programming
 * Interface and Data Specifications 1.0" (WAV), EBU Tech 3306 (RF64); ISO/IEC 14496-12 (MP4).
 */
import type { RecordingFile } from './recording-file.ts';

export const boxedSeconds = { wav: wavSeconds, mp4: mp4Seconds };

/** More than any recording has before its length. */
const maxBoxes = 100;
const streamed = 0xffffffff;
const pcmFormats = new Set([1, 3, 0xfffe]);

async function wavSeconds(file: RecordingFile): Promise<number | null> {
  let bytesPerSecond = 0;
  let at = 12;
  for (let count = 0; count < maxBoxes && at < file.size; count++) {
    const chunk = await file.read(at, 8 + 16);
    if (chunk.length < 8) return null;
    const name = chunk.toString('latin1', 0, 4);
    const size = chunk.readUInt32LE(4);
    if (name === 'fmt ' && chunk.length === 24) bytesPerSecond = bytesPerSecondOf(chunk.subarray(8));
    if (name === 'data') {
      const rest = file.size - at - 8;
      // Programs that write to a pipe do not know the size, and RF64 has it elsewhere.
      const bytes = size === 0 || size === streamed ? rest : Math.min(size, rest);
      return bytesPerSecond > 0 ? bytes / bytesPerSecond : null;
    }
    at += 8 + size + (size % 2);
  }
  return null;
}

function bytesPerSecondOf(format: Buffer): number {
  const stated = format.readUInt32LE(8);
  return pcmFormats.has(format.readUInt16LE(0)) ? format.readUInt32LE(4) * format.readUInt16LE(12) : stated;
}

interface Box {
  name: string;
  /** Of what is in it. */
  start: number;
  end: number;
}

async function* boxesIn(file: RecordingFile, { start, end }: Omit<Box, 'name'>): AsyncGenerator<Box> {
  let at = start;
  for (let count = 0; count < maxBoxes && at + 8 <= end; count++) {
    const header = await file.read(at, 16);
    if (header.length < 8) return;
    const short = header.readUInt32BE(0);
    if (short === 1 && header.length < 16) return;
    const size = short === 0 ? end - at : short === 1 ? Number(header.readBigUInt64BE(8)) : short;
    const inside = at + (short === 1 ? 16 : 8);
    if (at + size < inside) return;
    yield { name: header.toString('latin1', 4, 8), start: inside, end: Math.min(end, at + size) };
    at += size;
  }
}

async function findBox(file: RecordingFile, within: Omit<Box, 'name'>, name: string): Promise<Box | null> {
  for await (const box of boxesIn(file, within)) if (box.name === name) return box;
  return null;
}

/** The whole film's, or that of its fragments, which is in an extension (`mehd`) or an index (`sidx`). */
async function mp4Seconds(file: RecordingFile): Promise<number | null> {
  const all = { start: 0, end: file.size };
  const movie = await findBox(file, all, 'moov');
  const header = movie && (await findBox(file, movie, 'mvhd'));
  if (!movie || !header) return null;
  const fields = await file.read(header.start, 32);
  const isLong = fields[0] === 1;
  if (fields.length < 32) return null;
  const unitsPerSecond = fields.readUInt32BE(isLong ? 20 : 12);
  const units = isLong ? Number(fields.readBigUInt64BE(24)) : fields.readUInt32BE(16);
  if (unitsPerSecond === 0) return null;
  const isKnown = units > 0 && units !== streamed && units < Number.MAX_SAFE_INTEGER;
  return isKnown ? units / unitsPerSecond : fragmentedSeconds(file, movie, unitsPerSecond);
}

async function fragmentedSeconds(file: RecordingFile, movie: Box, unitsPerSecond: number): Promise<number | null> {
  const extension = await findBox(file, movie, 'mvex');
  const header = extension && (await findBox(file, extension, 'mehd'));
  if (header) {
    const fields = await file.read(header.start, 12);
    if (fields.length < 12) return null;
    const units = fields[0] === 1 ? Number(fields.readBigUInt64BE(4)) : fields.readUInt32BE(4);
    return units / unitsPerSecond;
  }
  const index = await findBox(file, { start: 0, end: file.size }, 'sidx');
  return index && indexedSeconds(await file.read(index.start, Math.min(index.end - index.start, maxIndexBytes)));
}

const maxIndexBytes = 64 * 1024;

/** Twelve bytes a reference, of which the second four are its length. */
function indexedSeconds(index: Buffer): number | null {
  const references = index[0] === 1 ? 28 : 20;
  if (index.length < references + 4) return null;
  const unitsPerSecond = index.readUInt32BE(8);
  const count = index.readUInt16BE(references + 2);
  let units = 0;
  for (let each = 0, at = references + 4; each < count; each++, at += 12) {
    if (at + 12 > index.length) return null;
    units += index.readUInt32BE(at + 4);
  }
  return unitsPerSecond === 0 ? null : units / unitsPerSecond;
}
