/** Mixed load: random calls of all kinds, some callers that disconnect early, and upstreams that fail in every way. */
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

/** Plays a random fault, or none, for each call. */
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
  /** Failures that were reported correctly. */
  failed: number;
  /** The caller disconnected. */
  left: number;
  /** Answers that were neither complete nor reported as failed, with their calls. Each is a defect. */
  wrong: string[];
  /** Calls without an end within the limit. Each is a defect. */
  hung: string[];
}

interface LoadOptions {
  baseUrl: string;
  key: string;
  models: readonly string[];
  random: () => number;
  counts: LoadCounts;
  /** A call that takes longer counts as hung. */
  limitMs: number;
}

const shareOfLeaving = 0.05;

/** Makes one random call and reads it to its end. */
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

/** Any 200 to a query about a video is right, because only the provider that owns a job knows its state. */
const isWholeVideo = ({ path }: OpenAiCall, status: number) => path.includes(':id') && status === 200;
