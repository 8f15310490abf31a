/** The routes for videos. A video is ready a few seconds after it was asked for; all are the same small film. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { binary, type Call, DemoError, json, newId, type Reply } from './answers.ts';
import film from './film.json' with { type: 'json' };

interface Video {
  id: string;
  prompt: string;
  model: string;
  seconds: string;
  size: string;
  remixedFrom: string | null;
  createdAtMs: number;
}

/** The oldest are forgotten. */
const maxVideos = 100;
const queuedShare = 0.2;
const decompress = promisify(brotliDecompress);

export class Videos {
  readonly #videos = new Map<string, Video>();
  /** From a video's order to its completion. */
  readonly #durationMs: number;

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  readonly create = (call: Call): Reply => {
    const { model, prompt, seconds, size } = call.fields;
    const order = {
      model: String(model ?? 'demo-video'),
      seconds: String(seconds ?? 4),
      size: String(size ?? '720x1280'),
    };
    return this.#make({ ...order, prompt: String(prompt), remixedFrom: null }, call);
  };

  readonly retrieve = (call: Call): Reply => this.#describe(this.#find(call), call);

  readonly remix = (call: Call): Reply => {
    const source = this.#findReady(call);
    return this.#make({ ...source, prompt: String(call.fields.prompt), remixedFrom: source.id }, call);
  };

  /** The film, a 4-second MP4 (H.264) of 320x180 pixels. */
  readonly download = async (call: Call): Promise<Reply> => {
    this.#findReady(call);
    return binary(await decompress(Buffer.from(film.mp4, 'base64')), 'video/mp4');
  };

  #make(order: Omit<Video, 'id' | 'createdAtMs'>, call: Call): Reply {
    const video = { ...order, id: newId('video_'), createdAtMs: call.now() };
    this.#videos.set(video.id, video);
    const [oldest] = this.#videos.keys();
    if (this.#videos.size > maxVideos && oldest !== undefined) this.#videos.delete(oldest);
    return this.#describe(video, call);
  }

  #find({ id }: Call): Video {
    const video = this.#videos.get(id);
    if (!video) throw new DemoError(404, `Video with id '${id}' not found.`);
    return video;
  }

  #findReady(call: Call): Video {
    const video = this.#find(call);
    if (this.#shareOf(video, call) === 1) return video;
    throw new DemoError(400, `Video '${video.id}' is not ready yet.`, 'video_not_ready');
  }

  #shareOf({ createdAtMs }: Video, { now }: Call): number {
    return Math.min((now() - createdAtMs) / this.#durationMs, 1);
  }

  #describe(video: Video, call: Call): Reply {
    const { createdAtMs, remixedFrom, ...order } = video;
    const share = this.#shareOf(video, call);
    const running = share < queuedShare ? 'queued' : 'in_progress';
    return json({
      ...order,
      object: 'video',
      status: share === 1 ? 'completed' : running,
      progress: Math.floor(100 * share),
      created_at: Math.floor(createdAtMs / 1000),
      completed_at: share === 1 ? Math.floor((createdAtMs + this.#durationMs) / 1000) : null,
      expires_at: null,
      remixed_from_video_id: remixedFrom,
      error: null,
    });
  }
}
