/**
 * Text as sound, and back. Each byte is a chord of two tones, as on a telephone's keypad: one of sixteen low ones for the
 * upper half of the byte, one of sixteen high ones for the lower half.
 *
 * All tones are multiples of 200 Hz and all chords last a multiple of 1/200 s. So every chord holds whole waves: the sound
 * has no clicks, and the tones do not disturb each other in reading. A sound is
 *
 *   silence · "SLUI" · speed byte · length (4 bytes) · CRC-32 (4 bytes) · the text in UTF-8 · silence
 *
 * where the chords before the text last 20 ms, and those of the text as long as the speed byte says.
 */
import { crc32 } from 'node:zlib';

export const SAMPLE_RATE = 24_000;

/** One wave of 200 Hz; every chord is a multiple of it. */
const WAVE_SAMPLES = 120;
const HEADER_WAVES = 4;
const SILENCE_SAMPLES = SAMPLE_RATE / 20;
const AMPLITUDE = 7000;
const TONES = 32;
const LOWEST_MULTIPLE = 2;
const MAGIC = Buffer.from('SLUI');
const HEADER_BYTES = MAGIC.length + 9;

/** One wave's length of each tone. */
const tones = Array.from({ length: TONES }, (_, tone) => wave(tone, Math.sin));
/** The same a quarter wave later: with both, a tone is found wherever its wave begins. */
const shiftedTones = Array.from({ length: TONES }, (_, tone) => wave(tone, Math.cos));

function wave(tone: number, shape: (angle: number) => number): Float64Array {
  const multiple = tone + LOWEST_MULTIPLE;
  return Float64Array.from({ length: WAVE_SAMPLES }, (_, index) =>
    shape((2 * Math.PI * multiple * index) / WAVE_SAMPLES),
  );
}

/** Samples at 24 kHz. A chord lasts 20 ms at speed 1, and never less than 5 ms. */
export function textToSamples(text: string, speed = 1): Int16Array {
  const payload = Buffer.from(text);
  const waves = Math.max(1, Math.round(HEADER_WAVES / speed));
  const head = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(head);
  head.writeUInt8(waves, 4);
  head.writeUInt32BE(payload.length, 5);
  head.writeUInt32BE(crc32(payload), 9);
  const chords = WAVE_SAMPLES * (HEADER_WAVES * head.length + waves * payload.length);
  const samples = new Int16Array(chords + 2 * SILENCE_SAMPLES);
  const afterHead = writeChords(samples, { bytes: head, waves: HEADER_WAVES, start: SILENCE_SAMPLES });
  writeChords(samples, { bytes: payload, waves, start: afterHead });
  return samples;
}

interface Passage {
  bytes: Uint8Array;
  /** Waves of 200 Hz in each chord. */
  waves: number;
  /** The sample it begins with. */
  start: number;
}

function writeChords(samples: Int16Array, { bytes, waves, start }: Passage): number {
  let place = start;
  for (const byte of bytes) {
    const low = tones[byte >> 4];
    const high = tones[16 + (byte & 15)];
    for (let index = 0; index < waves * WAVE_SAMPLES; index += 1) {
      const phase = index % WAVE_SAMPLES;
      samples[place++] = Math.round(AMPLITUDE * ((low?.[phase] ?? 0) + (high?.[phase] ?? 0)));
    }
  }
  return place;
}

/** The text in a sound made here, softer or louder or with other silence around it; `undefined` for any other sound. */
export function samplesToText(samples: Int16Array): string | undefined {
  const start = firstSound(samples);
  const head = readChords(samples, { start, waves: HEADER_WAVES, count: HEADER_BYTES });
  if (!head?.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const textStart = start + HEADER_BYTES * HEADER_WAVES * WAVE_SAMPLES;
  const payload = readChords(samples, { start: textStart, waves: head.readUInt8(4), count: head.readUInt32BE(5) });
  return payload && crc32(payload) === head.readUInt32BE(9) ? payload.toString('utf8') : undefined;
}

/** The sample before the first that is louder than a hundredth of the loudest: a wave begins at zero. */
function firstSound(samples: Int16Array): number {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return Math.max(0, samples.findIndex((sample) => Math.abs(sample) > loudest / 100) - 1);
}

function readChords(samples: Int16Array, passage: { start: number; waves: number; count: number }): Buffer | undefined {
  const { start, waves, count } = passage;
  const chordSamples = waves * WAVE_SAMPLES;
  if (waves === 0 || start + count * chordSamples > samples.length) return undefined;
  const bytes = Buffer.alloc(count);
  for (let index = 0; index < count; index += 1) {
    const chord = foldChord(samples, start + index * chordSamples, waves);
    bytes[index] = (loudestTone(chord, 0) << 4) | loudestTone(chord, 16);
  }
  return bytes;
}

/** A chord's waves laid over each other: the tones repeat with each, so nothing is lost and there is less to correlate. */
function foldChord(samples: Int16Array, start: number, waves: number): Float64Array {
  const folded = new Float64Array(WAVE_SAMPLES);
  for (let index = 0; index < waves * WAVE_SAMPLES; index += 1) {
    const phase = index % WAVE_SAMPLES;
    folded[phase] = (folded[phase] ?? 0) + (samples[start + index] ?? 0);
  }
  return folded;
}

/** Which of the sixteen tones from `first` on is the loudest, counted from 0. */
function loudestTone(chord: Float64Array, first: number): number {
  const powers = Array.from({ length: 16 }, (_, tone) => {
    return correlate(chord, tones[first + tone]) ** 2 + correlate(chord, shiftedTones[first + tone]) ** 2;
  });
  return powers.indexOf(Math.max(...powers));
}

function correlate(chord: Float64Array, tone: Float64Array | undefined): number {
  let sum = 0;
  for (let index = 0; index < WAVE_SAMPLES; index += 1) sum += (chord[index] ?? 0) * (tone?.[index] ?? 0);
  return sum;
}
