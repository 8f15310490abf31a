/**
 * The videos routes. Jobs complete by the clock; every job delivers the same small film, whatever its prompt and size.
 */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { rangedReply } from './byte-range.ts';
import type { Call } from './call.ts';
import { DemoError, invalidValue } from './demo-error.ts';
import film from './film.json' with { type: 'json' };
import { digest } from './ids.ts';
import { modelOf } from './models.ts';
import type { Parameters } from './parameters.ts';
import { drawPicture, parseSize } from './picture.ts';
import { json, pageOf, type Reply } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { createVideoJobs, type VideoJob, type VideoJobs } from './video-jobs.ts';

const MAX_SECONDS = 20;
const POLL_AFTER_MS = '500';
const THUMBNAIL_SIZE = { width: 320, height: 180 };

const decompress = promisify(brotliDecompress);

export function createVideoRoutes({ videoSeconds, now }: RouteContext): Route[] {
  const jobs = createVideoJobs(videoSeconds * 1000, now);
  const job = (call: Call) => jobs.get(call.path.id ?? '');
  return [
    { method: 'POST', path: '/videos', handle: (call) => create(call, jobs) },
    {
      method: 'GET',
      path: '/videos',
      handle: (call) => json(pageOf(jobs.oldestFirst().map(jobs.describe), call.query)),
    },
    { method: 'GET', path: '/videos/:id', handle: (call) => describe(job(call), jobs) },
    { method: 'DELETE', path: '/videos/:id', handle: (call) => remove(call.path.id ?? '', jobs) },
    { method: 'GET', path: '/videos/:id/content', handle: (call) => content(call, job(call), jobs) },
    { method: 'POST', path: '/videos/:id/remix', handle: (call) => remix(call, job(call), jobs) },
  ];
}

async function create(call: Call, jobs: VideoJobs): Promise<Reply> {
  const parameters = await call.parameters();
  const size = parameters.string('size') ?? '720x1280';
  if (!parseSize(size)) throw invalidValue('size', 'use WIDTHxHEIGHT such as 720x1280 or 1280x720');
  const order = { prompt: parameters.requiredString('prompt'), seconds: readSeconds(parameters), size };
  return describe(jobs.create(order, modelOf(parameters, 'videos')), jobs);
}

/** OpenAI expects the number as text; a JSON number is accepted too. */
function readSeconds(parameters: Parameters): string {
  const seconds = String(parameters.raw('seconds') ?? '4');
  if (/^\d{1,2}$/.test(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_SECONDS) return seconds;
  throw invalidValue('seconds', `use whole seconds from "1" to "${MAX_SECONDS}"`);
}

function describe(job: VideoJob, jobs: VideoJobs): Reply {
  return json(jobs.describe(job), jobs.isCompleted(job) ? {} : { 'openai-poll-after-ms': POLL_AFTER_MS });
}

function remove(id: string, jobs: VideoJobs): Reply {
  jobs.delete(id);
  return json({ id, object: 'video.deleted', deleted: true });
}

async function remix(call: Call, job: VideoJob, jobs: VideoJobs): Promise<Reply> {
  const prompt = (await call.parameters()).requiredString('prompt');
  requireCompleted(job, jobs);
  return describe(jobs.create({ ...job.order, prompt }, job.model, job.id), jobs);
}

/** The film, a 4-second MP4 (H.264) of 320x180 pixels; or a picture as its thumbnail or spritesheet. */
async function content(call: Call, job: VideoJob, jobs: VideoJobs): Promise<Reply> {
  requireCompleted(job, jobs);
  const isFilm = (call.query.get('variant') ?? 'video') === 'video';
  const bytes = await (isFilm
    ? decompress(Buffer.from(film.mp4, 'base64'))
    : drawPicture(THUMBNAIL_SIZE, job.order.prompt));
  const etag = `"${digest(bytes).toString('hex')}"`;
  const conditions = { range: call.header('range'), ifRange: call.header('if-range') };
  return rangedReply(bytes, isFilm ? 'video/mp4' : 'image/png', etag, conditions);
}

function requireCompleted(job: VideoJob, jobs: VideoJobs): void {
  if (jobs.isCompleted(job)) return;
  const message = `Video '${job.id}' is not ready yet; it is ${jobs.describe(job).status}.`;
  throw new DemoError({ status: 400, code: 'video_not_ready', param: 'id', message });
}
