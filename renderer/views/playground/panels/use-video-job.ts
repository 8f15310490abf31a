import { useEffect, useRef, useState } from 'react';
import { isTemporary, type Outcome, type Reply } from '../../../state/calls/exchange.ts';
import { numberAt, parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { ExchangeRunner } from '../call/use-exchange.ts';

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
export function useVideoJob(runner: ExchangeRunner): VideoJob {
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
