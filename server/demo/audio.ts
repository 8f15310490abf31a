/** The routes for audio: speech is one second of a tone as WAV, and what is heard is always the same sentence. */
import { introduction } from './answer.ts';
import { type Call, isTrue } from './call.ts';
import { binary, json, type Reply, typedEvents } from './reply.ts';

const samplesPerSecond = 24_000;
const tone = Array.from({ length: samplesPerSecond }, (_, index) => {
  // Fades in and out, so that it has no clicks.
  const fade = Math.sin((Math.PI * index) / samplesPerSecond);
  return Math.round(12_000 * fade * Math.sin((2 * Math.PI * 440 * index) / samplesPerSecond));
});

/** OpenAI's default format is mp3; the demo sends WAV, and the samples alone if it is asked for `pcm`. */
export function speak({ fields: { response_format: format, stream_format: streamFormat } }: Call): Reply {
  const samples = Buffer.from(Int16Array.from(tone).buffer);
  const sound = format === 'pcm' ? samples : wavOf(samples);
  if (streamFormat !== 'sse') return binary(sound, format === 'pcm' ? 'audio/pcm' : 'audio/wav');
  return typedEvents({ type: 'speech.audio.delta', audio: sound.toString('base64') }, { type: 'speech.audio.done' });
}

/** 16-bit mono. */
function wavOf(samples: Buffer): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** Transcriptions, and translations, which have no streams. */
export function listen({ fields: { stream, response_format: format } }: Call): Reply {
  const text = `${introduction} It cannot listen.`;
  if (isTrue(stream)) {
    return typedEvents({ type: 'transcript.text.delta', delta: text }, { type: 'transcript.text.done', text });
  }
  const isText = typeof format === 'string' && !format.includes('json');
  return isText ? binary(Buffer.from(`${text}\n`), 'text/plain; charset=utf-8') : json({ text });
}
