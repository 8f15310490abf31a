/** A provider's list of models, read page by page; requests for it are signed where the dialect asks for it. */
import { GatewayError } from '../contract/errors.ts';
import type { ProbeFinding } from '../contract/probe.ts';
import { type CollectedResponse, ResponseTooLong, readResponse } from '../transport/read-response.ts';
import type { OutgoingRequest, Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { maxModels, parseJsonBytes, parseModelList } from './parse-model-list.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

type Models = ReadonlyMap<string, ModelInfo>;
/** With both, the list is longer than what is read of it. */
type ListResult = { models: Models; finding?: ProbeFinding } | { finding: ProbeFinding };

/** Limits the pages, in case a server's list never ends. */
const maxPages = 20;
/** The longest known list, OpenRouter's, has about 1 MB; parsing as much as this takes some 50 ms. */
const maxPageBytes = 8 * 1024 * 1024;

/** Requests a provider's model list page by page. Returns a finding, like a probe, if that fails. */
export async function fetchModelList(upstream: Upstream, transport: Transport): Promise<ListResult> {
  const { first, after, read, isRightMissing } = upstream.dialect.modelPages;
  const models = new Map<string, ModelInfo>();
  try {
    let query: string | null = first;
    for (let page = 0; query !== null && page < maxPages && models.size <= maxModels; page++) {
      const { status, body } = await fetchModelPage(upstream, transport, query);
      if (isRightMissing?.(status, body)) return { finding: { code: 'may-not-list', status } };
      if (status !== 200) return { finding: { code: 'answered', status } };
      const pageModels = parseModelList(body, upstream.id, read);
      if (!pageModels) return { finding: { code: 'not-a-list' } };
      for (const [name, info] of pageModels) models.set(name, info);
      query = after(parseJsonBytes(body), query);
    }
    const isCut = query !== null || models.size > maxModels;
    return isCut ? { models, finding: { code: 'list-cut', models: models.size } } : { models };
  } catch (error) {
    if (error instanceof ResponseTooLong) return { finding: tooLong(error) };
    const isKnown = error instanceof TransportError || error instanceof GatewayError;
    if (isKnown) return { finding: { code: 'way-failed', detail: error.message } };
    throw error;
  }
}

export function tooLong({ maxBytes }: ResponseTooLong): ProbeFinding {
  return { code: 'list-too-long', megabytes: Math.round(maxBytes / 2 ** 20) };
}

/**
 * Requests one page of a provider's model list.
 * @throws TransportError
 * @throws GatewayError `provider_credential_refused` if no token can be obtained for the credential
 */
export async function fetchModelPage(
  upstream: Upstream,
  transport: Transport,
  page?: string,
): Promise<CollectedResponse> {
  return readSigned(upstream, modelListRequest(upstream, page), transport, maxPageBytes);
}

/**
 * Sends a request with the first credential, which may have to sign it, and reads the response.
 * @throws TransportError
 * @throws GatewayError `provider_credential_refused` if there is no token for the credential
 */
export async function readSigned(
  { credentials }: Upstream,
  request: OutgoingRequest,
  transport: Transport,
  maxBytes?: number,
): Promise<CollectedResponse> {
  const signing = credentials[0]?.signing;
  if (!signing) return readResponse(transport, request, maxBytes);
  const send = async () => {
    const headers = { ...request.headers, ...(await signing.headersFor(request, transport)) };
    return { headers, response: await readResponse(transport, { ...request, headers }, maxBytes) };
  };
  const { headers, response } = await send();
  const isRefused = response.status === 401 || response.status === 403;
  return isRefused && signing.correctClock?.(headers, response.headers) ? (await send()).response : response;
}
