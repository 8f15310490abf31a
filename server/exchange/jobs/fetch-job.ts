import { isPathSegment } from '../../providers/path-segment.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Job } from '../../store/rules/job.ts';
import { type CollectedResponse, readResponse } from '../../transport/read-response.ts';
import type { Transport } from '../../transport/transport.ts';

const pathOf = { video: '/videos/', character: null, response: '/responses/', object: null } as const;

/**
 * Fetches the current state of a job from the provider that owns it, with the credential that created it, or the first one if
 * that was removed. Returns null if the provider cannot be used now. Rejects with a TransportError.
 */
export function fetchJob(transport: Transport, snapshot: Snapshot, job: Job): Promise<CollectedResponse> | null {
  const provider = snapshot.providers.get(job.providerId);
  const folder = pathOf[job.kind];
  if (!provider || provider.unusable || !folder || !isPathSegment(job.upstreamId ?? job.id)) return null;
  const credential =
    provider.credentials.find((candidate) => candidate.id === job.credentialId) ?? provider.credentials[0];
  const { endpoint } = provider;
  const request = {
    origin: endpoint.origin,
    method: 'GET',
    path: provider.dialect.address(endpoint, folder + encodeURIComponent(job.upstreamId ?? job.id), '', null),
    headers: { accept: 'application/json', ...provider.headers, ...credential?.headers },
    body: null,
    timeouts: provider.timeouts,
    proxy: provider.proxy,
    certificate: provider.certificate,
  };
  return readResponse(transport, request, maxAnswerBytes);
}

/** A response may contain images. */
const maxAnswerBytes = 32 * 1024 * 1024;
