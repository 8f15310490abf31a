/** WAV files: written as 16-bit mono PCM, read as far as PCM of 16 bits and any number of channels. */

interface Sound {
  sampleRate: number;
  channels: number;
  /** Seconds. */
  duration: number;
  /** The first channel's samples if they are of 16 bits; else empty. */
  samples: Int16Array;
}

const HEADER_BYTES = 44;
const FORMAT_PCM = 1;

export function encodeWav(samples: Int16Array, sampleRate: number): Buffer {
  const data = encodePcm(samples);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_PCM, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

/** Bare samples, little-endian. */
export function encodePcm(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let index = 0; index < samples.length; index += 1) bytes.writeInt16LE(samples[index] ?? 0, index * 2);
  return bytes;
}

/** `undefined` if the bytes are no WAV file. */
export function decodeWav(bytes: Buffer): Sound | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  const chunks = readChunks(bytes);
  const format = chunks.get('fmt ');
  const data = chunks.get('data');
  if (!format || format.length < 16 || !data) return undefined;
  const [channels, sampleRate] = [format.readUInt16LE(2), format.readUInt32LE(4)];
  const bytesPerSecond = format.readUInt32LE(8);
  const isReadable = format.readUInt16LE(0) === FORMAT_PCM && format.readUInt16LE(14) === 16 && channels > 0;
  const samples = isReadable ? readSamples(data, channels) : new Int16Array();
  return { sampleRate, channels, duration: bytesPerSecond > 0 ? data.length / bytesPerSecond : 0, samples };
}

/** A length that runs past the end (writers of streams leave it at its maximum) ends at the end. */
function readChunks(bytes: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  let offset = 12;
  while (offset + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(offset + 4);
    chunks.set(bytes.toString('latin1', offset, offset + 4), bytes.subarray(offset + 8, offset + 8 + length));
    offset += 8 + length + (length % 2);
  }
  return chunks;
}

function readSamples(data: Buffer, channels: number): Int16Array {
  const frameBytes = channels * 2;
  return Int16Array.from({ length: Math.floor(data.length / frameBytes) }, (_, index) =>
    data.readInt16LE(index * frameBytes),
  );
}
