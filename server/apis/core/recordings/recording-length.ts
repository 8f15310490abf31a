/**
 * How long a recording is, by its header: WAV, FLAC, MP3, MP4, Ogg and WebM. Reads the beginning, the end, and the few places to
 * which the header leads, never the whole file. Written here because libraries for tags read more: `music-metadata` brings ten
 * packages and goes through an MP3 from end to end.
 */
import { boxedSeconds } from './boxed-length.ts';
import { framedSeconds } from './framed-length.ts';
import { headBytes, type RecordingFile } from './recording-file.ts';
import { webmSeconds } from './webm-length.ts';

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
