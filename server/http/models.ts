import type { ServerResponse } from 'node:http';
import type { ModelsFormat } from '../apis/core/api.ts';
import { GatewayError } from '../contract/errors.ts';
import { type LocalReply, sendJson } from '../exchange/answer/local-reply.ts';
import { listModels, retrieveModel } from '../routing/resolve.ts';
import type { CompiledGroup, CompiledKey } from '../routing/snapshot.ts';

interface ModelsRequest {
  group: CompiledGroup;
  key: CompiledKey;
  format: ModelsFormat;
  /** Empty for all of them. */
  model: string;
  method: string;
  /** With the API's base. */
  path: string;
  requestId: string;
}

/** Answers from the compiled group, so that it lists exactly the models that may be used. */
export function sendModels(response: ServerResponse, request: ModelsRequest): LocalReply {
  const { group, key, format, model, method, path, requestId } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', `Not allowed to ${method} on ${path}. Allowed: GET.`);
  }
  const body = model ? format.writeOne(retrieveModel(group, key, model)) : format.writeList(listModels(group, key));
  return sendJson(response, body, requestId);
}
