import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { sendJson } from '../http/send-json.ts';
import type { Job, JobStore } from '../jobs/job-store.ts';
import type { CompiledGroup, Snapshot } from '../routing/snapshot.ts';
import { readReply } from '../transport/read-reply.ts';
import type { Transport } from '../transport/transport.ts';

interface VideoListRequest {
  ports: { jobs: JobStore; transport: Transport };
  group: CompiledGroup;
  snapshot: Snapshot;
  /** With its `?`. */
  query: string;
  requestId: string;
}

/** Of what is told of one. */
const maxVideoBytes = 256 * 1024;
/** How many videos are asked for at the same time. */
const concurrency = 8;

/**
 * `GET /v1/videos`. The upstream would list its whole account; a group sees only its own videos. So the page comes from
 * the job store, which also spans providers, and each video is asked for anew. One that its provider has forgotten is
 * left out.
 */
export async function sendVideoList(
  response: ServerResponse,
  { ports, group, snapshot, query, requestId }: VideoListRequest,
): Promise<void> {
  const parameters = new URLSearchParams(query);
  const order = parameters.get('order') === 'asc' ? 'asc' : 'desc';
  const after = parameters.get('after');
  const { jobs, hasMore } = ports.jobs.list('video', group.id, {
    limit: readLimit(parameters.get('limit')),
    order,
    ...(after && { after }),
  });
  const videos: { id: string }[] = [];
  for (let start = 0; start < jobs.length; start += concurrency) {
    const some = await Promise.all(
      jobs.slice(start, start + concurrency).map((job) => fetchVideo(ports.transport, snapshot, job)),
    );
    videos.push(...some.filter((video) => video !== null));
  }
  sendJson(
    response,
    {
      object: 'list',
      data: videos,
      // Of the page as it was read, so that a page of which nothing is left does not end the list.
      first_id: jobs[0]?.id ?? null,
      last_id: jobs.at(-1)?.id ?? null,
      has_more: hasMore,
    },
    requestId,
  );
}

function readLimit(text: string | null): number {
  const limit = text === null ? 20 : Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new GatewayError('invalid_value', "Invalid 'limit': expected an integer from 1 to 100.", { param: 'limit' });
}

async function fetchVideo(transport: Transport, snapshot: Snapshot, job: Job): Promise<{ id: string } | null> {
  const provider = snapshot.providers.get(job.providerId);
  if (!provider || provider.unusable) return null;
  const credential = provider.credentials.find((one) => one.id === job.credentialId) ?? provider.credentials[0];
  const { endpoint } = provider;
  try {
    const reply = await readReply(
      transport,
      {
        origin: endpoint.origin,
        method: 'GET',
        path: provider.dialect.address(endpoint, `/videos/${encodeURIComponent(job.id)}`, '', null),
        headers: { accept: 'application/json', ...provider.headers, ...credential?.headers },
        body: null,
        timeouts: provider.timeouts,
        proxy: provider.proxy,
      },
      maxVideoBytes,
    );
    if (reply.status === 404) return null;
    const video: unknown = JSON.parse(reply.body.toString('utf8'));
    if (reply.status === 200 && typeof video === 'object' && video !== null && 'id' in video)
      return { ...video, id: job.id };
  } catch (error) {
    throw new GatewayError(
      'upstream_unreachable',
      `Provider "${provider.name}" did not tell about video '${job.id}'.`,
      { cause: error },
    );
  }
  throw new GatewayError('upstream_unreachable', `Provider "${provider.name}" did not tell about video '${job.id}'.`);
}
