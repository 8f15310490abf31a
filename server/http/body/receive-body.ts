import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { pattern } from '../../bounded-pattern.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import type { InferenceRoute } from '../../wire/routes.ts';
import { readJsonBody } from '../request/json-body.ts';
import { emptyBody, FormBody, type IncomingBody } from './incoming-body.ts';
import { receiveMultipart } from './multipart.ts';
import { readBody } from './read-body.ts';
import { watchSender } from './slow-senders.ts';

const formType = pattern(/^multipart\/form-data/i);

interface ReceiveOptions {
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
  const { route } = options;
  if (route.body === 'none') return emptyBody;
  const isForm = formType.test(request.headers['content-type'] ?? '');
  if (isForm && route.body === 'json') throw wrongType(route, 'application/json');
  if (!isForm && route.body === 'multipart') throw wrongType(route, 'multipart/form-data');
  const stopWatch = watchSender(request);
  try {
    return isForm ? await receiveForm(request, response, options) : await receiveJson(request, response, options);
  } finally {
    stopWatch();
  }
}

async function receiveForm(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, limits }: ReceiveOptions,
): Promise<IncomingBody> {
  const maxBytes = limits.multipartBodyBytes;
  return new FormBody(await receiveMultipart(request as Request, response as Response, { folder, maxBytes }));
}

async function receiveJson(
  request: IncomingMessage,
  response: ServerResponse,
  { route, limits }: ReceiveOptions,
): Promise<IncomingBody> {
  const bytes = await readBody(request, response, limits.jsonBodyBytes);
  return bytes.length === 0 && route.model === 'none' ? emptyBody : readJsonBody(bytes);
}

function wrongType(route: InferenceRoute, wanted: string): GatewayError {
  return new GatewayError('unsupported_media_type', `Unsupported content type: /v1${route.path} takes ${wanted}.`);
}
