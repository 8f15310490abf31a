/** Mixed load: all calls in turn by chance, some callers that leave early, upstreams that fail in every way. */
import * as plays from '../support/fault-plays.ts';
import { healthy, type Play } from '../support/fault-upstream.ts';
import { isHonestFailure, isWhole, receive } from '../support/judge-answer.ts';
import { calls, type OpenAiCall, requestFor } from '../support/openai-calls.ts';
import { pick } from '../support/random-numbers.ts';

const faults: readonly Play[] = [
  plays.resetBeforeHeaders,
  plays.resetAfterHeaders,
  plays.hangUp,
  plays.notHttp,
  plays.silence,
  plays.headersThenSilence,
  plays.slowFirstByte(100),
  plays.drip(5, 50),
  plays.stallAt({ share: 0.5 }),
  plays.cutAt({ share: 0.5 }),
  plays.cutAt({ bytes: 1 }),
  plays.cutAt({ bytes: -8 }),
  plays.tooLongLength,
  plays.errorInBody,
  plays.rateLimit(),
  plays.status(500),
  plays.status(503),
  plays.status(529),
  plays.status(400, { code: 'context_length_exceeded' }),
  plays.htmlPage,
  plays.emptyBody,
  plays.damagedGzip,
  plays.redirectLoop,
];

/** Plays a fault, or none, by chance anew with each call. */
export function byChance(shareOfFaults: number, random: () => number): Play {
  return {
    name: 'by chance',
    act(scene) {
      const play = random() < shareOfFaults ? faults[Math.floor(random() * faults.length)] : undefined;
      scene.call.played = (play ?? healthy).name;
      return (play ?? healthy).act(scene);
    },
  };
}

export interface LoadCounts {
  whole: number;
  /** Told of honestly. */
  failed: number;
  /** The caller left. */
  left: number;
  /** Neither whole nor told: each a defect, with what was asked. */
  wrong: string[];
  /** No end within the limit: each a defect. */
  hung: string[];
}

interface LoadOptions {
  baseUrl: string;
  key: string;
  models: readonly string[];
  random: () => number;
  counts: LoadCounts;
  /** A call that takes longer hangs. */
  limitMs: number;
}

const shareOfLeaving = 0.05;

/** One call by chance, to its end. */
export async function askOnce(options: LoadOptions): Promise<void> {
  const { random, counts, models, baseUrl, key, limitMs } = options;
  const call = pick(calls, random);
  const { path, init } = requestFor(call, pick(models, random), 'video_made');
  const headers = { ...init.headers, authorization: `Bearer ${key}` };
  const leaving = random() < shareOfLeaving ? AbortSignal.timeout(Math.floor(random() * 100)) : null;
  const limit = AbortSignal.timeout(limitMs);
  const signal = leaving ? AbortSignal.any([leaving, limit]) : limit;
  try {
    const received = await receive(await fetch(baseUrl + path, { ...init, headers, signal }));
    if (limit.aborted) counts.hung.push(call.name);
    else if (leaving?.aborted) counts.left++;
    else if (isWhole(call, received) || isWholeVideo(call, received.status)) counts.whole++;
    else if (isHonestFailure(call, received)) counts.failed++;
    else counts.wrong.push(`${call.name}: ${received.status} ${received.body.toString('latin1', 0, 200)}`);
  } catch (error) {
    if (leaving?.aborted) counts.left++;
    else if (limit.aborted) counts.hung.push(call.name);
    else counts.wrong.push(`${call.name}: ${error}`);
  }
}

/** An empty answer to a look at a video is as good as any: what a job is, only its owner knows. */
const isWholeVideo = ({ path }: OpenAiCall, status: number) => path.includes(':id') && status === 200;
