import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAMPLE_RATE, samplesToText, textToSamples } from '../../../server/demo/tones.ts';
import { decodeWav, encodeWav } from '../../../server/demo/wav.ts';

describe('text as tones', () => {
  it('is read back, whatever the text and the speed', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(text, fc.double({ min: 0.25, max: 4, noNaN: true }), (spoken, speed) => {
        expect(samplesToText(textToSamples(spoken, speed))).toBe(spoken);
      }),
      { numRuns: 100 },
    );
  });

  it('is read back when it is softer, or has more or less silence around it', () => {
    const samples = textToSamples('Any volume');
    expect(samplesToText(samples.map((sample) => sample / 20))).toBe('Any volume');
    expect(samplesToText(samples.slice(700))).toBe('Any volume');
    expect(samplesToText(Int16Array.from([...new Int16Array(999), ...samples]))).toBe('Any volume');
  });

  it('is read back through noise', () => {
    const samples = textToSamples('Noise').map((sample, index) => sample + (sample && ((index * 7919) % 1001) - 500));
    expect(samplesToText(samples)).toBe('Noise');
  });

  it('is not read where a part is missing or wrong', () => {
    const samples = textToSamples('Complete');
    expect(samplesToText(samples.slice(0, -3000))).toBeUndefined();
    const wrong = samples.slice();
    wrong.copyWithin(samples.length - 2400, samples.length - 3600, samples.length - 3000);
    expect(samplesToText(wrong)).toBeUndefined();
  });

  it('is not heard in silence or in nothing', () => {
    expect(samplesToText(new Int16Array(48_000))).toBeUndefined();
    expect(samplesToText(new Int16Array())).toBeUndefined();
  });

  it('has no clicks: no two neighbouring samples are far apart', () => {
    const samples = textToSamples('The quick brown fox');
    // Two sines of 7000 at 3400 and 6600 Hz change by at most this much from sample to sample.
    const steepest = 7000 * 2 * Math.PI * ((3400 + 6600) / SAMPLE_RATE);
    const steps = Array.from(samples.subarray(1), (sample, index) => Math.abs(sample - (samples[index] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(steepest);
  });
});

describe('a WAV file', () => {
  it('is read as it was written', () => {
    const samples = Int16Array.from([0, 1, -1, 32_767, -32_768]);
    expect(decodeWav(encodeWav(samples, 24_000))).toEqual({
      sampleRate: 24_000,
      channels: 1,
      duration: 5 / 24_000,
      samples,
    });
  });

  it('is read past other chunks and with an unknown length', () => {
    const wav = encodeWav(Int16Array.from([5, 6]), 8000);
    const list = Buffer.from('LIST\x03\0\0\0abc\0', 'latin1');
    const withList = Buffer.concat([wav.subarray(0, 12), list, wav.subarray(12)]);
    withList.writeUInt32LE(0xffff_ffff, 12 + list.length + 28);
    expect(decodeWav(withList)?.samples).toEqual(Int16Array.from([5, 6]));
  });

  it.each(['', 'RIFF', 'RIFF\0\0\0\0WAVE', 'RIFF\0\0\0\0WAVEfmt \x02\0\0\0\0\0data\0\0\0\0', 'ID3\x04'])(
    'is not %j',
    (bytes) => {
      expect(decodeWav(Buffer.from(bytes, 'latin1'))).toBeUndefined();
    },
  );
});
