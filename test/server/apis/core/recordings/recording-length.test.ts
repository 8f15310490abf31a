import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { headBytes, recordingIn } from '../../../../../server/apis/core/recordings/recording-length.ts';

const folder = join(import.meta.dirname, '../../../../fixtures/recordings');
const recordings = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const);

/** A file whose reads are counted; `size`: the bytes behind the given ones are zeros. */
function fileOf(bytes: Buffer, size = bytes.length) {
  const file = {
    size,
    readBytes: 0,
    async read(at: number, length: number) {
      const end = Math.min(size, at + length);
      const piece = Buffer.alloc(Math.max(0, end - at));
      bytes.copy(piece, 0, at, Math.min(bytes.length, end));
      file.readBytes += piece.length;
      return piece;
    },
  };
  return file;
}

test.each(recordings)('the length of %s is read from its header', async (name, bytes) => {
  const recording = await recordingIn(fileOf(bytes));
  // An encoder for MP3 adds a frame or two.
  expect(recording?.seconds).toBeCloseTo(name === 'speech.wav' ? 4 : 6.5, name.endsWith('.mp3') ? 0 : 1);
  expect(recording?.isMeasured).toBe(name === 'speech.wav');
});

test('a recording of an hour is not read as a whole', async () => {
  const hour = Buffer.from(readFileSync(join(folder, 'speech.wav')).subarray(0, 78));
  const size = 3_600 * 16_000 + 78;
  hour.writeUInt32LE(size - 78, hour.indexOf('data') + 4);
  const file = fileOf(hour, size);
  expect((await recordingIn(file))?.seconds).toBeCloseTo(3_600, 0);
  expect(file.readBytes).toBeLessThan(2 * headBytes);
});

test('a WAV that was written to a pipe is as long as its bytes', async () => {
  for (const size of [0, 0xffffffff, 0x7fffffff]) {
    const bytes = Buffer.from(readFileSync(join(folder, 'speech.wav')));
    bytes.writeUInt32LE(size, bytes.indexOf('data') + 4);
    expect((await recordingIn(fileOf(bytes)))?.seconds).toBeCloseTo(4, 1);
  }
});

test('a tag with a picture before the music is passed over', async () => {
  const music = readFileSync(join(folder, 'constant.mp3'));
  const tag = Buffer.alloc(10 + 300_000);
  tag.write('ID3\x04\0\0');
  for (const [at, shift] of [6, 7, 8, 9].entries()) tag[shift] = (300_000 >> (7 * (3 - at))) & 0x7f;
  const own =
    music.subarray(0, 3).toString() === 'ID3' ? music.subarray(music.indexOf(Buffer.from([0xff, 0xf3]))) : music;
  expect((await recordingIn(fileOf(Buffer.concat([tag, own]))))?.seconds).toBeCloseTo(6.5, 0);
});

test('a header that tells of more than any codec could hold is not believed', async () => {
  const bytes = Buffer.from(readFileSync(join(folder, 'speech.opus')));
  bytes.writeBigUInt64LE(48_000n * 1_000_000n, bytes.lastIndexOf('OggS') + 6);
  expect(await recordingIn(fileOf(bytes))).toBeNull();
});

test('of several streams in one file, the last does not count for all', async () => {
  const one = readFileSync(join(folder, 'speech.opus'));
  const other = Buffer.from(one);
  for (let at = other.indexOf('OggS'); at !== -1; at = other.indexOf('OggS', at + 1)) other.writeUInt32LE(7, at + 14);
  expect(await recordingIn(fileOf(Buffer.concat([one, other])))).toBeNull();
});

describe('what is cut, garbled or no recording at all has no length, or a plausible one', () => {
  test.each(recordings)('%s', async (_, bytes) => {
    for (let end = 0; end < bytes.length; end += end < 300 ? 1 : 997) await expectPlausible(bytes.subarray(0, end));
    for (let at = 0; at < 2_000; at++) {
      const garbled = Buffer.from(bytes.subarray(0, 4_000));
      garbled[at] = (garbled[at] ?? 0) ^ 0xff;
      await expectPlausible(garbled);
    }
  });

  test.each(['', 'RIFF', 'OggS', 'fLaC', 'ID3', 'not a recording', '\x1a\x45\xdf\xa3', '\0\0\0\x08ftyp'])(
    '%j',
    async (text) => {
      expect(await recordingIn(fileOf(Buffer.from(text, 'latin1')))).toBeNull();
    },
  );
});

async function expectPlausible(bytes: Buffer): Promise<void> {
  const recording = await recordingIn(fileOf(bytes));
  if (recording === null) return;
  expect(recording.seconds).toBeGreaterThan(0);
  expect(recording.seconds).toBeLessThanOrEqual(Math.max(3_600, bytes.length / 64));
}
