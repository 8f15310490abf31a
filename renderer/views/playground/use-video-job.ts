import { useEffect, useRef, useState } from 'react';
import { numberAt, parseJson, textAt } from './json-path.ts';
import type { ExchangeRunner } from './use-exchange.ts';

export interface VideoJobState {
  id: string;
  /** As the provider says: `queued`, `in_progress`, `completed`, `failed`. */
  status: string;
  progressPercent: number;
  error: string | null;
}

export interface VideoJob {
  state: VideoJobState | null;
  isRunning: boolean;
  video: Blob | null;
  start(body: object): Promise<void>;
  /** Asks no more; the provider goes on with it. */
  stop(): void;
}

const pollEveryMs = 1_500;
const unfinished = new Set(['queued', 'in_progress']);

/** Orders a video, asks for it until it is done, and fetches it. */
export function useVideoJob(runner: ExchangeRunner): VideoJob {
  const [state, setState] = useState<VideoJobState | null>(null);
  const [video, setVideo] = useState<Blob | null>(null);
  const [isRunning, setRunning] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const ask = async (call: Parameters<ExchangeRunner['run']>[0]) => {
    const reply = await runner.run(call);
    const asked = reply && toState(parseJson(reply.text));
    if (asked) setState(asked);
    return asked;
  };
  const follow = async (body: object, signal: AbortSignal) => {
    let job = await ask({ path: '/videos', body });
    while (job && unfinished.has(job.status)) {
      await pause(pollEveryMs, signal);
      if (signal.aborted) return;
      job = await ask({ path: `/videos/${job.id}`, method: 'GET' });
    }
    if (job?.status !== 'completed' || signal.aborted) return;
    const content = await runner.run({ path: `/videos/${job.id}/content`, method: 'GET' });
    setVideo(content?.blob ?? null);
  };
  return {
    state,
    isRunning,
    video,
    async start(body) {
      const controller = new AbortController();
      current.current = controller;
      setState(null);
      setVideo(null);
      setRunning(true);
      await follow(body, controller.signal);
      setRunning(false);
    },
    stop() {
      current.current?.abort();
      runner.stop();
    },
  };
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

/** Ends early when it is aborted. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
