/** The demo's video jobs. They progress by the clock and are kept in memory only. */
import { notFound } from './demo-error.ts';
import { newId } from './ids.ts';

interface VideoOrder {
  prompt: string;
  /** A whole number, as text. */
  seconds: string;
  /** `WIDTHxHEIGHT`. */
  size: string;
}

export interface VideoJob {
  id: string;
  order: VideoOrder;
  model: string;
  createdAtMs: number;
  remixedFrom: string | null;
}

export interface VideoJobs {
  create(order: VideoOrder, model: string, remixedFrom?: string): VideoJob;
  /** Throws OpenAI's 404 if there is none with this id. */
  get(id: string): VideoJob;
  delete(id: string): void;
  oldestFirst(): VideoJob[];
  isCompleted(job: VideoJob): boolean;
  /** The API's video object in the job's present state. */
  describe(job: VideoJob): ReturnType<typeof videoObject>;
}

/** Maximum number of jobs; beyond it, the oldest is dropped. */
const MAX_JOBS = 500;
/** The share of a job's time during which it is `queued`. */
const QUEUED_SHARE = 0.2;
const KEPT_SECONDS = 24 * 60 * 60;

export function createVideoJobs(durationMs: number, now: () => number): VideoJobs {
  const jobs = new Map<string, VideoJob>();
  const get = (id: string) => {
    const job = jobs.get(id);
    if (!job) throw notFound(`Video with id '${id}' not found.`, 'id');
    return job;
  };
  const share = (job: VideoJob) => (durationMs > 0 ? (now() - job.createdAtMs) / durationMs : 1);
  return {
    create: (order, model, remixedFrom) => {
      const job = { id: newId('video_'), order, model, createdAtMs: now(), remixedFrom: remixedFrom ?? null };
      jobs.set(job.id, job);
      const [oldest] = jobs.keys();
      if (jobs.size > MAX_JOBS && oldest !== undefined) jobs.delete(oldest);
      return job;
    },
    get,
    delete: (id) => {
      jobs.delete(get(id).id);
    },
    oldestFirst: () => [...jobs.values()],
    isCompleted: (job) => share(job) >= 1,
    describe: (job) => videoObject(job, share(job), durationMs),
  };
}

function videoObject(job: VideoJob, share: number, durationMs: number) {
  const isCompleted = share >= 1;
  const createdAt = Math.floor(job.createdAtMs / 1000);
  const completedAt = Math.floor((job.createdAtMs + durationMs) / 1000);
  return {
    id: job.id,
    object: 'video',
    model: job.model,
    status: statusAt(share),
    progress: progressAt(share),
    created_at: createdAt,
    completed_at: isCompleted ? completedAt : null,
    expires_at: isCompleted ? completedAt + KEPT_SECONDS : null,
    prompt: job.order.prompt,
    size: job.order.size,
    seconds: job.order.seconds,
    quality: 'standard',
    remixed_from_video_id: job.remixedFrom,
    error: null,
  };
}

function statusAt(share: number): 'queued' | 'in_progress' | 'completed' {
  if (share >= 1) return 'completed';
  return share < QUEUED_SHARE ? 'queued' : 'in_progress';
}

/** Percent; 100 only once the job is completed. */
function progressAt(share: number): number {
  if (share >= 1) return 100;
  return Math.max(0, Math.floor(((share - QUEUED_SHARE) / (1 - QUEUED_SHARE)) * 100));
}
