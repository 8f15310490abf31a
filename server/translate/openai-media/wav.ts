/**
 * Writes a WAV file. Source: Microsoft, "Multimedia Programming Interface and Data Specifications 1.0", "Waveform Audio
 * File Format".
 */

const headerBytes = 44;
const bytesPerSample = 2;
const pcmFormat = 1;

/** @param samples 16-bit little-endian, one channel */
export function wavOf(samples: Buffer, samplesPerSecond: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0);
  header.writeUInt32LE(headerBytes - 8 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(pcmFormat, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(bytesPerSample * 8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
