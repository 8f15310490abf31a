import { readReply } from '../transport/read-reply.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { parseModelList } from './model-list.ts';
import { type ModelInfo, modelListRequest, type Upstream } from './upstream.ts';

export type ListResult = { models: ReadonlyMap<string, ModelInfo> } | { error: string };

/** Asks a provider for its models. What goes wrong is told for a person, and never quotes the reply. */
export async function listModels(upstream: Upstream, transport: Transport): Promise<ListResult> {
  try {
    const { status, body } = await readReply(transport, modelListRequest(upstream));
    if (status !== 200) return { error: `it answered ${status} when asked for its models` };
    const models = parseModelList(body, upstream.id);
    return models ? { models } : { error: 'its answer is no list of models' };
  } catch (error) {
    if (error instanceof TransportError) return { error: error.message };
    throw error;
  }
}
