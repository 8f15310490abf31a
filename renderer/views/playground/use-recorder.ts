import { useEffect, useRef, useState } from 'react';

/** Why nothing is recorded: it was not allowed, there is no microphone, or it broke off. */
type RecorderProblem = 'denied' | 'missing' | 'failed';

interface Recorder {
  /** False where the page may not use a microphone at all, such as over plain HTTP from another machine. */
  isPossible: boolean;
  state: 'idle' | 'asking' | 'recording';
  /** Unix milliseconds; null while it does not record. */
  since: number | null;
  problem: RecorderProblem | null;
  /** To be called from a click: it is what the microphone is granted for. */
  start(): void;
  /** What was recorded goes to `onRecorded`. */
  stop(): void;
}

/** Records from the microphone; a screen that closes lets go of it. */
export function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [since, setSince] = useState<number | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<RecorderProblem | null>(null);
  const running = useRef<MediaRecorder | null>(null);
  const isClosed = useRef(false);
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
      if (running.current) release(running.current);
    };
  }, []);
  const start = async () => {
    setAsking(true);
    setProblem(null);
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (isClosed.current) return stopTracks(stream);
      running.current = record(stream, {
        finished: (file) => !isClosed.current && onRecorded(file),
        failed: () => setProblem('failed'),
        ended() {
          running.current = null;
          setSince(null);
        },
      });
      setSince(Date.now());
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setAsking(false);
    }
  };
  const whileIdle = isAsking ? 'asking' : 'idle';
  return {
    // Absent where the page came in the clear, whatever the types say.
    isPossible: window.isSecureContext && typeof MediaRecorder === 'function',
    state: since === null ? whileIdle : 'recording',
    since,
    problem,
    start: () => void start(),
    stop: () => running.current?.stop(),
  };
}

interface RecordingListener {
  finished(file: File): void;
  failed(): void;
  /** After either. */
  ended(): void;
}

function record(stream: MediaStream, listener: RecordingListener): MediaRecorder {
  const recorder = new MediaRecorder(stream);
  const pieces: Blob[] = [];
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onerror = listener.failed;
  recorder.onstop = () => {
    stopTracks(stream);
    const type = recorder.mimeType.split(';')[0] || 'audio/webm';
    if (pieces.some(({ size }) => size > 0))
      listener.finished(new File(pieces, `recording.${endingOf(type)}`, { type }));
    listener.ended();
  };
  recorder.start();
  return recorder;
}

/** Services tell a recording's format by the end of its name. */
function endingOf(type: string): string {
  return type.slice(type.indexOf('/') + 1);
}

function release(recorder: MediaRecorder): void {
  if (recorder.state !== 'inactive') recorder.stop();
  stopTracks(recorder.stream);
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function problemOf(error: unknown): RecorderProblem {
  if (!(error instanceof DOMException)) return 'failed';
  if (error.name === 'NotAllowedError' || error.name === 'SecurityError') return 'denied';
  return error.name === 'NotFoundError' ? 'missing' : 'failed';
}
