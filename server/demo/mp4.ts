/** Wraps an H.264 film in an MP4 file (ISO/IEC 14496-12 and -15), its index before its data so that players start at once. */
import { type EncodedFilm, PROFILE_BYTES } from './h264.ts';

interface Movie {
  width: number;
  height: number;
  framesPerSecond: number;
  film: EncodedFilm;
}

/** Units of time a second, in the whole file. */
const TIMESCALE = 1000;
const TRACK_ID = 1;

export function encodeMp4(movie: Movie): Buffer {
  const samples = movie.film.frames.map(({ nalUnit }) => Buffer.concat([u32(nalUnit.length), nalUnit]));
  const type = box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'));
  // The index names the place of the data, which comes after the index: its length does not depend on that number.
  const indexLength = movieIndex(movie, samples, 0).length;
  const dataOffset = type.length + indexLength + 8;
  return Buffer.concat([type, movieIndex(movie, samples, dataOffset), box('mdat', ...samples)]);
}

function movieIndex(movie: Movie, samples: readonly Buffer[], dataOffset: number): Buffer {
  const duration = u32((samples.length * TIMESCALE) / movie.framesPerSecond);
  const header = fullBox('mvhd', 0, [
    zeros(8),
    u32(TIMESCALE),
    duration,
    u32(0x0001_0000), // plays at normal rate
    u16(0x0100), // and full volume
    zeros(10),
    identityMatrix,
    zeros(24),
    u32(TRACK_ID + 1),
  ]);
  return box(
    'moov',
    header,
    box('trak', trackHeader(movie, duration), media(movie, samples, { duration, dataOffset })),
  );
}

function trackHeader({ width, height }: Movie, duration: Buffer): Buffer {
  const enabledInMovie = 3;
  const size = [u32(width * 0x1_0000), u32(height * 0x1_0000)];
  return fullBox('tkhd', enabledInMovie, [
    zeros(8),
    u32(TRACK_ID),
    zeros(4),
    duration,
    zeros(16),
    identityMatrix,
    ...size,
  ]);
}

function media(movie: Movie, samples: readonly Buffer[], place: { duration: Buffer; dataOffset: number }): Buffer {
  const undeterminedLanguage = u16(0x55c4);
  const header = fullBox('mdhd', 0, [zeros(8), u32(TIMESCALE), place.duration, undeterminedLanguage, zeros(2)]);
  const handler = fullBox('hdlr', 0, [zeros(4), ascii('vide'), zeros(12), ascii('Sluice demo\0')]);
  const dataInThisFile = fullBox('url ', 1, []);
  const information = box(
    'minf',
    fullBox('vmhd', 1, [zeros(8)]),
    box('dinf', fullBox('dref', 0, [u32(1), dataInThisFile])),
    sampleTable(movie, samples, place.dataOffset),
  );
  return box('mdia', header, handler, information);
}

/** All samples lie in one chunk, one after the other, each as long as the next. */
function sampleTable(movie: Movie, samples: readonly Buffer[], dataOffset: number): Buffer {
  const keys = movie.film.frames.flatMap((frame, index) => (frame.isKey ? [u32(index + 1)] : []));
  const count = u32(samples.length);
  return box(
    'stbl',
    fullBox('stsd', 0, [u32(1), sampleEntry(movie)]),
    fullBox('stts', 0, [u32(1), count, u32(TIMESCALE / movie.framesPerSecond)]),
    fullBox('stss', 0, [u32(keys.length), ...keys]),
    fullBox('stsc', 0, [u32(1), u32(1), count, u32(1)]),
    fullBox('stsz', 0, [u32(0), count, ...samples.map((sample) => u32(sample.length))]),
    fullBox('stco', 0, [u32(1), u32(dataOffset)]),
  );
}

function sampleEntry({ width, height, film }: Movie): Buffer {
  const dotsPerInch = u32(72 * 0x1_0000);
  return box(
    'avc1',
    zeros(6),
    u16(1), // index of the data reference
    zeros(16),
    u16(width),
    u16(height),
    dotsPerInch,
    dotsPerInch,
    zeros(4),
    u16(1), // frames in a sample
    zeros(32),
    u16(24), // bits of colour
    u16(0xffff),
    decoderConfiguration(film),
  );
}

function decoderConfiguration({ sequenceParameters, pictureParameters }: EncodedFilm): Buffer {
  const lengthsOfFourBytes = 0xff;
  return box(
    'avcC',
    Buffer.from([1, ...PROFILE_BYTES, lengthsOfFourBytes]),
    Buffer.concat([Buffer.from([0xe1]), u16(sequenceParameters.length), sequenceParameters]),
    Buffer.concat([Buffer.from([1]), u16(pictureParameters.length), pictureParameters]),
  );
}

const identityMatrix = Buffer.concat([0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].map(u32));

function box(type: string, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, content) => sum + content.length, 8);
  return Buffer.concat([u32(length), ascii(type), ...contents]);
}

/** A box of version 0 with flags. */
function fullBox(type: string, flags: number, contents: readonly Uint8Array[]): Buffer {
  return box(type, u32(flags), ...contents);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function zeros(count: number): Buffer {
  return Buffer.alloc(count);
}
