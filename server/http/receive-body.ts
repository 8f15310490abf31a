import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { Settings } from '../contract/config.ts';
import { GatewayError } from '../contract/errors.ts';
import type { InferenceRoute } from './inference-routes.ts';
import { receiveMultipart } from './multipart.ts';
import { emptyBody, FormBody, type IncomingBody, JsonBody } from './outgoing-body.ts';
import { readBody } from './read-body.ts';

export interface ReceiveOptions {
  route: InferenceRoute;
  limits: Settings['limits'];
  /** Where uploads are spooled. */
  folder: string;
}

/**
 * Station 2. The content type decides between the forms that the route takes; JSON under another name (`curl -d` sends
 * a form's) is taken for what it is.
 */
export async function receiveBody(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiveOptions,
): Promise<IncomingBody> {
  const { route, limits, folder } = options;
  if (route.body === 'none') return emptyBody;
  const isForm = /^multipart\/form-data/i.test(request.headers['content-type'] ?? '');
  if (isForm && route.body === 'json') throw wrongType(route, 'application/json');
  if (!isForm && route.body === 'multipart') throw wrongType(route, 'multipart/form-data');
  if (isForm)
    return new FormBody(
      await receiveMultipart(request as Request, response as Response, { folder, maxBytes: limits.multipartBodyBytes }),
    );
  const bytes = await readBody(request, response, limits.jsonBodyBytes);
  return bytes.length === 0 && route.model === 'none' ? emptyBody : new JsonBody(bytes);
}

function wrongType(route: InferenceRoute, wanted: string): GatewayError {
  return new GatewayError('unsupported_media_type', `Unsupported content type: /v1${route.path} takes ${wanted}.`);
}
