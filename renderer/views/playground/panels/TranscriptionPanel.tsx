import { Button, Checkbox } from '@mantine/core';
import { IconMicrophone, IconPlayerStopFilled } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { useNow } from '../../../state/window/use-now.ts';
import { FilePicker, PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { useObjectUrl } from './use-object-url.ts';

const session = createSessionValue<{ file: File | null; translates: boolean; text: string | null }>({
  file: null,
  translates: false,
  text: null,
});
const exchangeStore = createExchangeStore();

/** Transcribes a recording from a file or the microphone, or translates it into English. */
export function TranscriptionPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'transcription');
  const [{ file, translates, text }, change] = useSessionFields(session);
  const url = useObjectUrl(file);

  const send = async () => {
    if (!file) return;
    change({ text: null });
    const body = new FormData();
    body.append('model', models.model);
    body.append('file', file, file.name);
    const reply = await runner.run({ path: translates ? '/audio/translations' : '/audio/transcriptions', body });
    change({ text: reply && (textAt(parseJson(reply.text), 'text') ?? reply.text) });
  };
  return (
    <PlaygroundPanel
      title={names.panels.transcription}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!file}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result:
            text === null ? (
              <p className={classes.empty}>{names.transcriptionEmpty}</p>
            ) : (
              <div className={classes.withCopy}>
                <p className={classes.words}>{text}</p>
                <CopyButton value={text} label={names.panels.transcription} />
              </div>
            ),
        },
      ]}
    >
      <FilePicker label={names.chooseAudio} accept="audio/*,video/*" file={file} onPick={(file) => change({ file })} />
      <RecordButton onRecorded={(file) => change({ file })} />
      {url && (
        <audio className={classes.player} controls src={url} aria-label={names.chosenAudio}>
          <track kind="captions" />
        </audio>
      )}
      <Checkbox
        label={names.translates}
        checked={translates}
        onChange={(event) => change({ translates: event.currentTarget.checked })}
      />
    </PlaygroundPanel>
  );
}

/** Records speech. Renders nothing if the page may not use a microphone. */
function RecordButton({ onRecorded }: { onRecorded(file: File): void }) {
  const { messages, formats } = useLocalization();
  const { playground: names } = messages;
  const recorder = useRecorder(onRecorded);
  const { since } = recorder;
  const seconds = useNow((now) => (since === null ? 0 : Math.max(0, Math.floor((now - since) / 1_000))));
  if (!recorder.isPossible) return null;
  return (
    <div className={classes.pick}>
      {since === null ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconMicrophone size={14} />}
          loading={recorder.state === 'asking'}
          onClick={recorder.start}
        >
          {names.record}
        </Button>
      ) : (
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlayerStopFilled size={14} className={classes.bad} />}
            onClick={recorder.stop}
          >
            {names.recordStop}
          </Button>
          <span role="timer">{formats.duration(seconds * 1_000)}</span>
        </>
      )}
      {recorder.problem && (
        <p className={classes.bad} role="alert">
          {names.recordProblems[recorder.problem]}
        </p>
      )}
    </div>
  );
}

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
function useRecorder(onRecorded: (file: File) => void): Recorder {
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
