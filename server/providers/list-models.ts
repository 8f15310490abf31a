import type { ProbeFinding } from '../contract/probe.ts';
import { readResponse } from '../transport/read-response.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { parseJson, parseModelList } from './parse-model-list.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

type Models = ReadonlyMap<string, ModelInfo>;
type ListResult = { models: Models } | { finding: ProbeFinding };

/** Limit of pages, in case a server's list never ends. */
const mostPages = 20;

/** Requests a provider's model list page by page; returns a finding, like a probe, if that fails. */
export async function listModels(upstream: Upstream, transport: Transport): Promise<ListResult> {
  const { first, after } = upstream.dialect.modelPages;
  const models = new Map<string, ModelInfo>();
  try {
    let query: string | null = first;
    for (let page = 0; query !== null && page < mostPages; page++) {
      const { status, body } = await readResponse(transport, modelListRequest(upstream, query));
      if (status !== 200) return { finding: { code: 'answered', status } };
      const listed = parseModelList(body, upstream.id);
      if (!listed) return { finding: { code: 'not-a-list' } };
      for (const [name, info] of listed) models.set(name, info);
      query = after(parseJson(body));
    }
    return { models };
  } catch (error) {
    if (error instanceof TransportError) return { finding: { code: 'way-failed', detail: error.message } };
    throw error;
  }
}
