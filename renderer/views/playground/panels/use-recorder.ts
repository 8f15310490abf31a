import { useEffect, useRef, useState } from 'react';

/** Why nothing is recorded: permission denied, no microphone, or a recording error. */
type RecorderProblem = 'denied' | 'missing' | 'failed';

interface Recorder {
  /** False if the page may not use a microphone at all, such as over plain HTTP from another machine. */
  isPossible: boolean;
  state: 'idle' | 'asking' | 'recording';
  /** Unix milliseconds; null while not recording. */
  since: number | null;
  problem: RecorderProblem | null;
  /** To be called from a click handler, so that the browser asks for the microphone in response to a click. */
  start(): void;
  /** Ends the recording, which is passed to `onRecorded`. */
  stop(): void;
}

/** Records from the microphone, and releases it when the screen is left. */
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
    // Both are absent on insecure pages, although the types say otherwise.
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
  /** Called after either of the above. */
  ended(): void;
}

function record(stream: MediaStream, listener: RecordingListener): MediaRecorder {
  const recorder = new MediaRecorder(stream);
  const chunks: Blob[] = [];
  recorder.ondataavailable = ({ data }) => chunks.push(data);
  recorder.onerror = listener.failed;
  recorder.onstop = () => {
    stopTracks(stream);
    const type = recorder.mimeType.split(';')[0] || 'audio/webm';
    if (chunks.some(({ size }) => size > 0))
      listener.finished(new File(chunks, `recording.${endingOf(type)}`, { type }));
    listener.ended();
  };
  recorder.start();
  return recorder;
}

/** Services recognise the format of a recording by its file extension. */
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
