/**
 * How long a recording is, by its header: WAV, FLAC, MP3, MP4, Ogg and WebM. Reads the beginning, the end, and the few
 * places to which the header leads, never the whole file. Written here because libraries for tags read more:
 * `music-metadata` brings ten packages and goes through an MP3 from end to end.
 */

export interface Recording {
  seconds: number;
  /** Its bytes say so, and not only a field of its header. */
  isMeasured: boolean;
}

/** Half of what the most efficient speech codec needs: a header that tells of more seconds is wrong. */
const minBytesPerSecond = 64;
/** Of silence, a short file may hold much. */
const usualSeconds = 3_600;

/** Null if the file is of no such format, or does not tell its length. */
export async function recordingIn(file: RecordingFile): Promise<Recording | null> {
  const head = await file.read(0, headBytes);
  const recording = await readHeader(file, head);
  const mostSeconds = Math.max(usualSeconds, file.size / minBytesPerSecond);
  return recording !== null && recording.seconds > 0 && recording.seconds <= mostSeconds ? recording : null;
}

async function readHeader(file: RecordingFile, head: Buffer): Promise<Recording | null> {
  const mark = head.toString('latin1', 0, 4);
  if (mark === 'RIFF' || mark === 'RF64') {
    const seconds = await boxedSeconds.wav(file);
    return seconds === null ? null : { seconds, isMeasured: true };
  }
  if (head.toString('latin1', 4, 8) === 'ftyp') return asTold(await boxedSeconds.mp4(file));
  if (mark === 'OggS') return asTold(await framedSeconds.ogg(file, head));
  if (head.length > 4 && head.readUInt32BE(0) === 0x1a45dfa3) return asTold(await webmSeconds(file, head));
  const start = await afterTag(file, head);
  const music = start === 0 ? head : await file.read(start, headBytes);
  if (music.toString('latin1', 0, 4) === 'fLaC') return asTold(framedSeconds.flac(music));
  return asTold(framedSeconds.mp3(music, file.size - start));
}

function asTold(seconds: number | null): Recording | null {
  return seconds === null ? null : { seconds, isMeasured: false };
}

/** ID3v2 stands before the music, with a length of four times seven bits. */
async function afterTag(file: RecordingFile, head: Buffer): Promise<number> {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const length = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0);
  return Math.min(file.size, 10 + length);
}

/** A part of a recording at a time. */
interface RecordingFile {
  size: number;
  /** Fewer bytes at its end. */
  read(at: number, bytes: number): Promise<Buffer>;
}

/** What every format is read by at first. */
export const headBytes = 64 * 1024;

/**
 * The length of recordings that consist of boxes with a name and a size. Sources: Microsoft and IBM, "Multimedia
 * Programming Interface and Data Specifications 1.0" (WAV), EBU Tech 3306 (RF64); ISO/IEC 14496-12 (MP4).
 */
const boxedSeconds = { wav: wavSeconds, mp4: mp4Seconds };

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

/**
 * The length of recordings that consist of frames or pages. Sources: RFC 3533 (Ogg), RFC 7845 (Opus), "Vorbis I
 * specification", RFC 9639 (FLAC); ISO/IEC 11172-3 and 13818-3, and LAME's "Xing VBR header" (MP3).
 */
const framedSeconds = { flac: flacSeconds, mp3: mp3Seconds, ogg: oggSeconds };

function flacSeconds(music: Buffer): number | null {
  if (music.length < 42) return null;
  // 20 bits of samples per second, 3 of channels, 5 of bits, 36 of samples.
  const samplesPerSecond = music.readUIntBE(18, 3) >> 4;
  const samples = ((music[21] ?? 0) & 0x0f) * 2 ** 32 + music.readUInt32BE(22);
  return samplesPerSecond === 0 || samples === 0 ? null : samples / samplesPerSecond;
}

const page = Buffer.from('OggS');
/** The longest page, and one that is cut at its beginning. */
const lastPagesBytes = 2 * 65_307;
const noPosition = 0xffffffffffffffffn;

/** The last page tells how many samples there are up to it. */
async function oggSeconds(file: RecordingFile, head: Buffer): Promise<number | null> {
  const first = head.length < 28 ? null : codecOf(head.subarray(27 + (head[26] ?? 0)));
  if (first === null) return null;
  const serial = head.readUInt32LE(14);
  const tail = await file.read(Math.max(0, file.size - lastPagesBytes), lastPagesBytes);
  for (let at = tail.lastIndexOf(page); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf(page, at - 1)) {
    if (at + 27 > tail.length || tail[at + 4] !== 0) continue;
    // Of several streams, one after the other, the last tells nothing of the others.
    if (tail.readUInt32LE(at + 14) !== serial) return null;
    const position = tail.readBigUInt64LE(at + 6);
    if (position === noPosition) continue;
    return Math.max(0, Number(position) - first.skipped) / first.samplesPerSecond;
  }
  return null;
}

function codecOf(packet: Buffer): { samplesPerSecond: number; skipped: number } | null {
  if (packet.length < 40) return packet.length >= 19 ? opusIn(packet) : null;
  const opus = opusIn(packet);
  if (opus) return opus;
  if (packet.toString('latin1', 1, 7) === 'vorbis') return atRate(packet.readUInt32LE(12));
  if (packet.toString('latin1', 0, 5) === 'Speex') return atRate(packet.readUInt32LE(36));
  // FLAC's own beginning stands at the ninth byte.
  return packet.toString('latin1', 1, 5) === 'FLAC' ? atRate(packet.readUIntBE(27, 3) >> 4) : null;
}

/** Opus counts at 48 kHz, whatever it was recorded at. */
function opusIn(packet: Buffer): { samplesPerSecond: number; skipped: number } | null {
  const isOpus = packet.toString('latin1', 0, 8) === 'OpusHead';
  return isOpus ? { samplesPerSecond: 48_000, skipped: packet.readUInt16LE(10) } : null;
}

function atRate(samplesPerSecond: number): { samplesPerSecond: number; skipped: number } | null {
  return samplesPerSecond === 0 ? null : { samplesPerSecond, skipped: 0 };
}

/** In kbit/s, of MPEG 1 and of MPEG 2 and 2.5, for layers I, II and III. */
const bitRates = {
  1: [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  2: [
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;
const sampleRates = [44_100, 48_000, 32_000] as const;

interface Frame {
  bytes: number;
  samples: number;
  samplesPerSecond: number;
}

function frameAt(music: Buffer, at: number): Frame | null {
  if (at + 4 > music.length) return null;
  const bits = music.readUInt32BE(at);
  const version = (bits >>> 19) & 3;
  const layer = 4 - ((bits >>> 17) & 3);
  if (bits >>> 21 !== 0x7ff || version === 1 || layer === 4) return null;
  const isFirst = version === 3;
  const bitRate = bitRates[isFirst ? 1 : 2][layer - 1]?.[((bits >>> 12) & 15) - 1];
  const rate = sampleRates[(bits >>> 10) & 3];
  if (bitRate === undefined || rate === undefined) return null;
  const samplesPerSecond = rate / (isFirst ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1_152;
  const padding = ((bits >>> 9) & 1) * (layer === 1 ? 4 : 1);
  const bytes = Math.floor((samples * bitRate * 125) / samplesPerSecond) + padding;
  return { bytes, samples, samplesPerSecond };
}

/** By the number of frames, if an encoder has noted it, else by the bit rate of those at the beginning. */
function mp3Seconds(music: Buffer, size: number): number | null {
  for (let at = 0; at < music.length - 4; at++) {
    const first = music[at] === 0xff ? frameAt(music, at) : null;
    if (first === null) continue;
    // Two in a row are no accident.
    const next = at + first.bytes;
    if (next < music.length - 4 ? frameAt(music, next) === null : next !== size) continue;
    const frames = notedFrames(music.subarray(at, next));
    if (frames !== null) return (frames * first.samples) / first.samplesPerSecond;
    return secondsByRate(music, at, size);
  }
  return null;
}

function notedFrames(frame: Buffer): number | null {
  const vbri = frame.toString('latin1', 36, 40) === 'VBRI' && frame.length >= 54 ? frame.readUInt32BE(50) : 0;
  if (vbri > 0) return vbri;
  for (const at of [13, 21, 36]) {
    const name = frame.toString('latin1', at, at + 4);
    if (name !== 'Xing' && name !== 'Info') continue;
    const hasCount = at + 12 <= frame.length && (frame.readUInt32BE(at + 4) & 1) === 1;
    return hasCount ? frame.readUInt32BE(at + 8) || null : null;
  }
  return null;
}

function secondsByRate(music: Buffer, start: number, size: number): number {
  let seconds = 0;
  let at = start;
  for (let frame = frameAt(music, at); frame !== null; frame = frameAt(music, at)) {
    seconds += frame.samples / frame.samplesPerSecond;
    at += frame.bytes;
  }
  return seconds * Math.max(1, (size - start) / (at - start));
}

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

/**
 * The length of a WebM or Matroska recording: its `Duration`, which browsers leave out while they record, or else the
 * time of its last block. Source: RFC 9559 (Matroska), RFC 8794 (EBML).
 */
async function webmSeconds(file: RecordingFile, head: Buffer): Promise<number | null> {
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
