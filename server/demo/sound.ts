/** The demo's sound: a WAV file with one beep for each character, and the spoken text in a comment chunk. */

/** 16-bit mono. */
const SAMPLE_RATE = 24_000;
const BEEP_SECONDS = 0.05;
const BEEP_HERTZ = 440;
const AMPLITUDE = 12_000;
const FORMAT_PCM = 1;

/** Created with the first sound, because a start of the demo needs none. */
let madeBeep: Buffer | undefined;

export function soundSeconds(text: string): number {
  return text.length * BEEP_SECONDS;
}

/** Little-endian samples without a header. */
export function encodePcm(text: string): Buffer {
  madeBeep ??= createBeep();
  return Buffer.alloc(text.length * madeBeep.length, madeBeep);
}

/** The text is stored in a `LIST`/`INFO` comment, in which `readSpokenText` finds it again. */
export function encodeWav(text: string): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(FORMAT_PCM, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(SAMPLE_RATE, 4);
  format.writeUInt32LE(SAMPLE_RATE * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const info = Buffer.concat([Buffer.from('INFO'), chunk('ICMT', Buffer.from(text))]);
  const chunks = [chunk('fmt ', format), chunk('LIST', info), chunk('data', encodePcm(text))];
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
}

/** The text of a file that `encodeWav` made; `undefined` for any other file. */
export function readSpokenText(bytes: Buffer): string | undefined {
  const start = bytes.indexOf('INFOICMT', 0, 'latin1');
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || start === -1 || start + 12 > bytes.length) return undefined;
  return bytes.toString('utf8', start + 12, start + 12 + bytes.readUInt32LE(start + 8));
}

/** Chunks of a RIFF file are padded to an even length. */
function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** Fades in and out, so that a row of beeps has no clicks. */
function createBeep(): Buffer {
  const samples = SAMPLE_RATE * BEEP_SECONDS;
  const bytes = Buffer.alloc(samples * 2);
  for (let index = 0; index < samples; index += 1) {
    const fade = Math.sin((Math.PI * index) / samples);
    const wave = Math.sin((2 * Math.PI * BEEP_HERTZ * index) / SAMPLE_RATE);
    bytes.writeInt16LE(Math.round(AMPLITUDE * fade * wave), index * 2);
  }
  return bytes;
}
