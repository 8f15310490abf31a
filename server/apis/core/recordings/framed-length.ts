/**
 * The length of recordings that consist of frames or pages. Sources: RFC 3533 (Ogg), RFC 7845 (Opus), "Vorbis I specification",
 * RFC 9639 (FLAC); ISO/IEC 11172-3 and 13818-3, and LAME's "Xing VBR header" (MP3).
 */
import type { RecordingFile } from './recording-file.ts';

export const framedSeconds = { flac: flacSeconds, mp3: mp3Seconds, ogg: oggSeconds };

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
