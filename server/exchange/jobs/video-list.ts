import { GatewayError } from '../../contract/errors.ts';
import type { CompiledGroup, Snapshot } from '../../routing/snapshot.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Job } from '../../store/rules/job.ts';
import type { Transport } from '../../transport/transport.ts';
import { fetchJob } from './fetch-job.ts';

interface VideoListRequest {
  ports: { jobs: JobStore; transport: Transport };
  group: CompiledGroup;
  snapshot: Snapshot;
  /** Includes the `?`. */
  query: string;
}

/** OpenAI's list of videos. */
interface VideoList {
  object: 'list';
  data: { id: string }[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

/** How many videos are fetched at the same time. */
const concurrency = 8;

/**
 * `GET /v1/videos`. The upstream would list its whole account, but a group may see only its own videos. So the page comes
 * from the job store, which spans providers, and each video is fetched again. A video that its provider no longer has is
 * left out.
 */
export async function listVideos({ ports, group, snapshot, query }: VideoListRequest): Promise<VideoList> {
  const parameters = new URLSearchParams(query);
  const order = parameters.get('order') === 'asc' ? 'asc' : 'desc';
  const after = parameters.get('after');
  const { jobs, hasMore } = await ports.jobs.list('video', group.id, {
    limit: readLimit(parameters.get('limit')),
    order,
    ...(after && { after }),
  });
  const videos: { id: string }[] = [];
  for (let start = 0; start < jobs.length; start += concurrency) {
    const batch = await Promise.all(
      jobs.slice(start, start + concurrency).map((job) => fetchVideo(ports.transport, snapshot, job)),
    );
    videos.push(...batch.filter((video) => video !== null));
  }
  return {
    object: 'list',
    data: videos,
    // Taken from the page before filtering, so that an empty page does not end the list.
    first_id: jobs[0]?.id ?? null,
    last_id: jobs.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

function readLimit(text: string | null): number {
  const limit = text === null ? 20 : Number(text);
  if (Number.isInteger(limit) && limit >= 0 && limit <= 100) return limit;
  throw new GatewayError('invalid_value', "Invalid 'limit': expected an integer from 0 to 100.", { param: 'limit' });
}

async function fetchVideo(transport: Transport, snapshot: Snapshot, job: Job): Promise<{ id: string } | null> {
  try {
    const response = await fetchJob(transport, snapshot, job);
    if (response === null) return null;
    if (response.status === 404) return null;
    const video: unknown = JSON.parse(response.body.toString('utf8'));
    if (response.status === 200 && typeof video === 'object' && video !== null && 'id' in video)
      return { ...video, id: job.id };
  } catch (error) {
    throw new GatewayError(
      'upstream_unreachable',
      `Provider "${nameOf(snapshot, job)}" did not tell about video '${job.id}'.`,
      { cause: error },
    );
  }
  throw new GatewayError(
    'upstream_unreachable',
    `Provider "${nameOf(snapshot, job)}" did not tell about video '${job.id}'.`,
  );
}

function nameOf(snapshot: Snapshot, { providerId }: Job): string {
  return snapshot.providers.get(providerId)?.name ?? providerId;
}
