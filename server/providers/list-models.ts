import type { ProbeFinding } from '../contract/probe.ts';
import { readResponse } from '../transport/read-response.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { parseModelList } from './parse-model-list.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

type ListResult = { models: ReadonlyMap<string, ModelInfo> } | { finding: ProbeFinding };

/** Asks a provider for its models; returns a finding, as a probe would, if that fails. */
export async function listModels(upstream: Upstream, transport: Transport): Promise<ListResult> {
  try {
    const { status, body } = await readResponse(transport, modelListRequest(upstream));
    if (status !== 200) return { finding: { code: 'answered', status } };
    const models = parseModelList(body, upstream.id);
    return models ? { models } : { finding: { code: 'not-a-list' } };
  } catch (error) {
    if (error instanceof TransportError) return { finding: { code: 'way-failed', detail: error.message } };
    throw error;
  }
}
