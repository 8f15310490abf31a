/**
 * The part of OpenAI's API that Sluice does not serve itself: files, batches, vector stores, assistants, and future
 * additions. Knows only how its paths are built: https://platform.openai.com/docs/api-reference.
 */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { PassthroughPath } from '../core/api.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { type Method, plainRoute, type Route } from '../core/route.ts';
import { unreportedUsage } from '../core/usage/unreported-usage.ts';
import type { Wire } from '../core/wire.ts';
import { type CommonField, jsonRequest, mediaAnswer } from './wire/formats.ts';

const passthrough: Wire<CommonField> = {
  name: 'openai-passthrough',
  operation: 'passthrough',
  request: jsonRequest,
  errorName: 'code',
  usage: unreportedUsage,
  whole: mediaAnswer,
  stream: null,
  rescue: null,
};

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** OpenAI's name for a resource or action; an id contains digits, capitals or hyphens instead. */
const plainName = boundedPattern(/^[a-z]{1,40}(?:_[a-z]{1,40}){0,4}$/);
const maxSegments = 16;

/** Resources of an organisation rather than a project, which require an admin key. */
const adminRoots = new Set(['organization', 'projects']);

/** Routes, by label, that only store, change or stop something and run no model. */
const storing = boundedPattern(
  /^\/(?:(?:files|assistants|videos\/characters)(?:\/\{id\})?|chat\/completions\/\{id\}|uploads(?:\/\{id\}(?:\/parts|\/complete)?)?|(?:conversations|skills|threads)(?:\/\{id\}(?:\/(?:items|versions|messages)(?:\/\{id\})?)?)?|.{1,500}\/cancel)$/,
);

/** Routes, by label, on which a POST makes nothing: it changes the object that it names, stops it, or searches. */
const making = boundedPattern(/^(?!.{1,500}\/(?:\{id\}|cancel|search)$)/);

/** `path` below `/v1`, percent-encoded. Null if it is not a path of OpenAI's API. */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = methods.find((each) => each === method);
  const [, ...segments] = path.split('/');
  if (!knownMethod || segments.length > maxSegments || segments.includes('')) return null;
  const [root = '', ...rest] = segments;
  // A path below a deployment names a model, which passthrough would not check.
  if (!plainName.test(root) || root === 'deployments') return null;
  if (adminRoots.has(root)) return { refusal: adminRefusal };
  if (path === '/videos') return { refusal: videosRefusal };
  const ids = rest.filter((segment) => !plainName.test(segment));
  const label = `/${[root, ...rest.map((segment) => (ids.includes(segment) ? '{id}' : segment))].join('/')}`;
  const onlyId = ids.length === 1 && ids[0] !== undefined ? decodeSegment(ids[0]) : null;
  return { route: routeFor(knownMethod, label), label, names: rest.map(decodeSegment), onlyId };
}

const adminRefusal =
  "Sluice does not pass on the API that administers an organisation (/v1/organization, /v1/projects): call the provider itself, with that organisation's admin key.";

const videosRefusal =
  'Sluice does not pass on the list of videos, which would show those of other groups: keep the id of each video that you make.';

function routeFor(method: Method, label: string): Route {
  const isReading = method === 'GET' || method === 'HEAD';
  return {
    ...plainRoute,
    method,
    path: label,
    wire: passthrough,
    body: 'passed',
    isFree: isReading || method === 'DELETE' || storing.test(label),
    content: isReading,
    purchases: method === 'POST' && making.test(label) ? 'all' : 'none',
  };
}
