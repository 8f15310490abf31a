/**
 * The videos routes: jobs that are completed by the clock, and their content as MP4. A job reports the length and the size
 * that were asked for; the film itself is always the same small one.
 */

import { rangedReply } from './byte-range.ts';
import type { Call } from './call.ts';
import { DemoError, invalidType, invalidValue } from './demo-error.ts';
import { drawSpritesheet, drawThumbnail, type FilmOrder, loadFilm } from './film.ts';
import { digest } from './ids.ts';
import { modelOf } from './models.ts';
import { pageOf } from './paging.ts';
import type { Parameters } from './parameters.ts';
import { encodePng } from './png.ts';
import { json, type Reply } from './reply.ts';
import type { Route, RouteContext } from './route.ts';
import { createVideoJobs, type VideoJob, type VideoJobs } from './video-jobs.ts';

const variants = ['video', 'thumbnail', 'spritesheet'];
const MAX_SECONDS = 20;
const POLL_AFTER_MS = '500';

export function createVideoRoutes({ videoSeconds, now }: RouteContext): Route[] {
  const jobs = createVideoJobs(videoSeconds * 1000, now);
  const job = (call: Call) => jobs.get(call.path.id ?? '');
  return [
    { method: 'POST', path: '/videos', handle: (call) => create(call, jobs) },
    { method: 'GET', path: '/videos', handle: (call) => list(call, jobs) },
    { method: 'GET', path: '/videos/:id', handle: (call) => describe(job(call), jobs) },
    { method: 'DELETE', path: '/videos/:id', handle: (call) => remove(call.path.id ?? '', jobs) },
    { method: 'GET', path: '/videos/:id/content', handle: (call) => content(call, job(call), jobs) },
    { method: 'POST', path: '/videos/:id/remix', handle: (call) => remix(call, job(call), jobs) },
  ];
}

async function create(call: Call, jobs: VideoJobs): Promise<Reply> {
  const parameters = await call.parameters();
  const model = modelOf(parameters, 'videos');
  const order = {
    prompt: parameters.requiredString('prompt'),
    seconds: readSeconds(parameters),
    size: readSize(parameters.string('size') ?? '720x1280'),
  };
  return describe(jobs.create(order, model), jobs);
}

/** OpenAI writes the number as text; a JSON number is understood as well. */
function readSeconds(parameters: Parameters): number {
  const value = parameters.raw('seconds') ?? '4';
  if (typeof value !== 'string' && typeof value !== 'number') throw invalidType('seconds', 'a string');
  const seconds = /^\d+$/.test(String(value)) ? Number(value) : 0;
  if (seconds < 1 || seconds > MAX_SECONDS)
    throw invalidValue('seconds', `use whole seconds from "1" to "${MAX_SECONDS}"`);
  return seconds;
}

function readSize(size: string): FilmOrder['size'] {
  const [, width = 0, height = 0] = (/^(\d{2,4})x(\d{2,4})$/.exec(size) ?? []).map(Number);
  const shape = width / height;
  if (shape >= 0.25 && shape <= 4) return { width, height };
  throw invalidValue('size', 'use WIDTHxHEIGHT such as 720x1280 or 1280x720');
}

function describe(job: VideoJob, jobs: VideoJobs): Reply {
  return json(jobs.describe(job), jobs.isCompleted(job) ? {} : { 'openai-poll-after-ms': POLL_AFTER_MS });
}

function list(call: Call, jobs: VideoJobs): Reply {
  return json(pageOf(jobs.oldestFirst().map(jobs.describe), call.query));
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

async function content(call: Call, job: VideoJob, jobs: VideoJobs): Promise<Reply> {
  const variant = call.query.get('variant') ?? 'video';
  if (!variants.includes(variant)) throw invalidValue('variant', `use ${variants.join(', ')}`);
  requireCompleted(job, jobs);
  const { bytes, contentType } = await render(job.order, variant);
  const etag = `"${digest(bytes).toString('hex')}"`;
  return rangedReply(bytes, contentType, etag, { range: call.header('range'), ifRange: call.header('if-range') });
}

async function render(order: FilmOrder, variant: string): Promise<{ bytes: Buffer; contentType: string }> {
  if (variant === 'video') return { bytes: await loadFilm(), contentType: 'video/mp4' };
  const picture = variant === 'thumbnail' ? drawThumbnail(order) : drawSpritesheet(order);
  return { bytes: await encodePng(picture), contentType: 'image/png' };
}

function requireCompleted(job: VideoJob, jobs: VideoJobs): void {
  if (jobs.isCompleted(job)) return;
  const message = `Video '${job.id}' is not ready yet; it is ${jobs.describe(job).status}.`;
  throw new DemoError({ status: 400, code: 'video_not_ready', param: 'id', message });
}
