/** The demo's route table and its lookup. */
import type { Call } from './call.ts';
import { createChatRoutes } from './chat.ts';
import { createCompletionRoutes } from './completions.ts';
import { DemoError, notFound } from './demo-error.ts';
import { createEmbeddingRoutes } from './embeddings.ts';
import { createImageRoutes } from './images.ts';
import { demoModels } from './models.ts';
import { createModerationRoutes } from './moderations.ts';
import { json, type Reply } from './reply.ts';
import { createResponseRoutes } from './responses.ts';
import type { Route, RouteContext } from './route.ts';
import { createSpeechRoutes } from './speech.ts';
import { createTranscriptionRoutes } from './transcriptions.ts';
import { createVideoRoutes } from './videos.ts';

export function createRoutes(context: RouteContext): readonly Route[] {
  return [
    { method: 'GET', path: '/models', handle: () => json({ object: 'list', data: demoModels }) },
    { method: 'GET', path: '/models/:model', handle: getModel },
    ...createChatRoutes(context),
    ...createCompletionRoutes(context),
    ...createResponseRoutes(context),
    ...createEmbeddingRoutes(),
    ...createModerationRoutes(),
    ...createImageRoutes(context),
    ...createSpeechRoutes(),
    ...createTranscriptionRoutes(),
    ...createVideoRoutes(context),
  ];
}

function getModel(call: Call): Reply {
  const model = demoModels.find((candidate) => candidate.id === call.path.model);
  if (model) return json(model);
  const message = `The model '${call.path.model}' does not exist`;
  throw new DemoError({ status: 404, code: 'model_not_found', param: 'model', message });
}

/** Throws OpenAI's 404 for an unknown path, and 405 for a wrong method. */
export function findRoute(routes: readonly Route[], method: string, pathname: string) {
  let isKnownPath = false;
  for (const route of routes) {
    const path = matchPath(`/v1${route.path}`, pathname);
    if (!path) continue;
    if (route.method === method) return { route, path };
    isKnownPath = true;
  }
  if (!isKnownPath) throw unknownUrl(method, pathname);
  const message = `Not allowed to ${method} on ${pathname}.`;
  throw new DemoError({ status: 405, code: 'method_not_allowed', message });
}

function matchPath(pattern: string, pathname: string): Record<string, string> | undefined {
  const patternSegments = pattern.split('/');
  const pathSegments = pathname.split('/');
  if (patternSegments.length !== pathSegments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of patternSegments.entries()) {
    const actual = pathSegments[index] ?? '';
    if (segment.startsWith(':') && actual !== '') parameters[segment.slice(1)] = decodeSegment(actual);
    else if (segment !== actual) return undefined;
  }
  return parameters;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound(`Malformed path segment: ${segment}`);
  }
}

function unknownUrl(method: string, pathname: string): DemoError {
  const message = `Invalid URL (${method} ${pathname})`;
  return new DemoError({ status: 404, code: 'unknown_url', message });
}
