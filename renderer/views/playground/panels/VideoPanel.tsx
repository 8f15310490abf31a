import { Button, NativeSelect, Progress, Textarea, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { isTemporary, type Outcome, type Reply } from '../../../state/calls/exchange.ts';
import { numberAt, parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, type ExchangeRunner, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { useObjectUrl } from './use-object-url.ts';

const lengths = ['4', '8', '12'];
const sizes = ['720x1280', '1280x720'];

const session = createSessionValue({ prompt: '', seconds: '4', size: '1280x720' });
const exchangeStore = createExchangeStore();

/** Creates a video: starts a job, shows its progress, and then the video. */
export function VideoPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const runner = useExchange(keyChoice, exchangeStore);
  const job = useVideoJob(runner);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'videos');
  const [{ prompt, seconds, size }, change] = useSessionFields(session);
  // Kept after the screen and window are closed, because the video has been paid for.
  const [videoId, setVideoId] = useLocalStorage({ key: 'sluice-playground-video', defaultValue: '' });
  const orderedId = job.state?.id;
  useEffect(() => {
    if (orderedId) setVideoId(orderedId);
  }, [orderedId, setVideoId]);
  const canFollow = videoId !== '' && runner.canRun && !job.isRunning;
  const follow = () => {
    if (canFollow) void job.follow(videoId);
  };
  const url = useObjectUrl(job.video);
  return (
    <PlaygroundPanel
      title={names.panels.videos}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!prompt.trim()}
      isBusy={job.isRunning}
      onSend={() => void job.start({ model: models.model, prompt, seconds, size })}
      onStop={job.stop}
      lanes={[
        {
          runner,
          result: (
            <>
              {job.state && (
                <>
                  <p className={classes.words}>
                    {names.videoState(job.state.status, formats.number(job.state.progressPercent))}
                  </p>
                  <CopyLine value={job.state.id} label={names.videoId} oneLine />
                  <Progress
                    value={job.state.progressPercent}
                    animated={job.isRunning}
                    aria-label={names.panels.videos}
                  />
                  {job.state.error && (
                    <p className={classes.bad} role="alert">
                      {job.state.error}
                    </p>
                  )}
                </>
              )}
              {job.isRetrying && <p className={classes.soft}>{names.videoAskedAgain}</p>}
              {!job.state && <p className={classes.empty}>{names.videosEmpty}</p>}
              {url && (
                <video className={classes.player} controls src={url} aria-label={prompt}>
                  <track kind="captions" />
                </video>
              )}
            </>
          ),
        },
      ]}
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => change({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={6}
      />
      <NativeSelect
        label={names.seconds}
        value={seconds}
        onChange={(event) => change({ seconds: event.currentTarget.value })}
        data={lengths}
      />
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => change({ size: event.currentTarget.value })}
        data={sizes}
      />
      <div className={classes.withAct}>
        <TextInput
          label={names.videoId}
          description={names.videoFollowHint}
          value={videoId}
          onChange={(event) => setVideoId(event.currentTarget.value.trim())}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Otherwise Enter would order another video.
            event.preventDefault();
            follow();
          }}
        />
        <Button size="sm" variant="default" disabled={!canFollow} onClick={follow}>
          {names.videoFollow}
        </Button>
      </div>
    </PlaygroundPanel>
  );
}

interface VideoJobState {
  id: string;
  /** As the provider reports it: `queued`, `in_progress`, `completed`, `failed`. */
  status: string;
  progressPercent: number;
  error: string | null;
}

interface VideoJob {
  state: VideoJobState | null;
  isRunning: boolean;
  /** The last poll failed and is being retried. */
  isRetrying: boolean;
  video: Blob | null;
  start(body: object): Promise<void>;
  /** Follows a job that was started earlier. */
  follow(id: string): Promise<void>;
  /** Stops polling; the provider continues the job. */
  stop(): void;
}

const pollEveryMs = 1_500;
const longestPauseMs = 10_000;
const unfinished = new Set(['queued', 'in_progress']);

/**
 * Starts a video job, polls it until it is finished, and fetches the video. Temporary failures are retried, because the
 * job goes on.
 */
function useVideoJob(runner: ExchangeRunner): VideoJob {
  const [state, setState] = useState<VideoJobState | null>(null);
  const [video, setVideo] = useState<Blob | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [isRetrying, setRetrying] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const applyReply = (reply: Reply | null) => {
    const next = reply && toState(parseJson(reply.text));
    if (next) setState(next);
    return next;
  };
  const getWithRetries = (path: string, signal: AbortSignal) =>
    retryWhileTemporary(() => runner.attempt({ path, method: 'GET' }), { signal, onFailing: setRetrying });
  const poll = async (first: VideoJobState | null, signal: AbortSignal) => {
    let job = first;
    while (job && unfinished.has(job.status)) {
      await pause(pollEveryMs, signal);
      job = applyReply(await getWithRetries(pathOf(job.id), signal));
    }
    if (job?.status !== 'completed') return;
    const content = await getWithRetries(`${pathOf(job.id)}/content`, signal);
    setVideo(content?.blob ?? null);
  };
  const track = async (first: (signal: AbortSignal) => Promise<Reply | null>) => {
    const controller = new AbortController();
    current.current = controller;
    setState(null);
    setVideo(null);
    setRunning(true);
    await poll(applyReply(await first(controller.signal)), controller.signal);
    setRunning(false);
    setRetrying(false);
  };
  return {
    state,
    isRunning,
    isRetrying,
    video,
    start: (body) => track(() => runner.run({ path: '/videos', body })),
    follow: (id) => track((signal) => getWithRetries(pathOf(id), signal)),
    stop() {
      current.current?.abort();
      runner.stop();
    },
  };
}

/** Null if the request was refused permanently, or aborted. */
async function retryWhileTemporary(
  call: () => Promise<Outcome>,
  { signal, onFailing }: { signal: AbortSignal; onFailing(isFailing: boolean): void },
): Promise<Reply | null> {
  for (let failures = 0; !signal.aborted; failures++) {
    const { reply, failure } = await call();
    const isFailing = failure !== null && isTemporary(failure);
    onFailing(isFailing);
    if (!isFailing) return reply;
    await pause(Math.min(longestPauseMs, pollEveryMs * 2 ** failures), signal);
  }
  return null;
}

function pathOf(id: string): string {
  return `/videos/${encodeURIComponent(id)}`;
}

function toState(reply: unknown): VideoJobState | null {
  const id = textAt(reply, 'id');
  if (!id) return null;
  const status = textAt(reply, 'status') ?? '';
  return {
    id,
    status,
    progressPercent: status === 'completed' ? 100 : (numberAt(reply, 'progress') ?? 0),
    error: textAt(reply, 'error', 'message'),
  };
}

/** Ends early when aborted. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
