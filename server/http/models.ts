import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { listModels, retrieveModel } from '../routing/resolve.ts';
import type { CompiledGroup, CompiledKey } from '../routing/snapshot.ts';
import { decodeSegment } from '../wire/segments.ts';
import { sendJson } from './send-json.ts';

interface ModelsRequest {
  group: CompiledGroup;
  key: CompiledKey;
  /** Below `/v1`. */
  path: string;
  method: string;
  requestId: string;
}

/** `/models`, or `/models/…` with an id that may contain slashes, encoded or not. */
export function isModelsPath(path: string): boolean {
  return path === '/models' || path.startsWith('/models/');
}

/** Answers from the compiled group, so that it lists exactly the models that may be used. */
export function sendModels(response: ServerResponse, { group, key, path, method, requestId }: ModelsRequest): void {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', `Not allowed to ${method} on /v1${path}. Allowed: GET.`);
  }
  const id = decodeSegment(path.slice('/models/'.length));
  const body = id ? retrieveModel(group, key, id) : { object: 'list', data: listModels(group, key) };
  sendJson(response, body, requestId);
}
