import { useEffect, useRef, useState } from 'react';
import { mayPass, type Outcome, type Reply } from './exchange.ts';
import { numberAt, parseJson, textAt } from './json-path.ts';
import type { ExchangeRunner } from './use-exchange.ts';

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
  isAskedAgain: boolean;
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
  const [isAskedAgain, setAskedAgain] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const note = (reply: Reply | null) => {
    const told = reply && toState(parseJson(reply.text));
    if (told) setState(told);
    return told;
  };
  const insist = (path: string, signal: AbortSignal) =>
    untilAnswered(() => runner.attempt({ path, method: 'GET' }), { signal, onFailing: setAskedAgain });
  const watch = async (first: VideoJobState | null, signal: AbortSignal) => {
    let job = first;
    while (job && unfinished.has(job.status)) {
      await pause(pollEveryMs, signal);
      job = note(await insist(pathOf(job.id), signal));
    }
    if (job?.status !== 'completed') return;
    const content = await insist(`${pathOf(job.id)}/content`, signal);
    setVideo(content?.blob ?? null);
  };
  const begin = async (first: (signal: AbortSignal) => Promise<Reply | null>) => {
    const controller = new AbortController();
    current.current = controller;
    setState(null);
    setVideo(null);
    setRunning(true);
    await watch(note(await first(controller.signal)), controller.signal);
    setRunning(false);
    setAskedAgain(false);
  };
  return {
    state,
    isRunning,
    isAskedAgain,
    video,
    start: (body) => begin(() => runner.run({ path: '/videos', body })),
    follow: (id) => begin((signal) => insist(pathOf(id), signal)),
    stop() {
      current.current?.abort();
      runner.stop();
    },
  };
}

/** Null if the request was refused permanently, or aborted. */
async function untilAnswered(
  ask: () => Promise<Outcome>,
  { signal, onFailing }: { signal: AbortSignal; onFailing(isFailing: boolean): void },
): Promise<Reply | null> {
  for (let failures = 0; !signal.aborted; failures++) {
    const { reply, failure } = await ask();
    const isFailing = failure !== null && mayPass(failure);
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
