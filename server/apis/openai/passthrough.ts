/**
 * The part of OpenAI's API that Sluice does not serve itself: files, batches, vector stores, assistants, and future
 * additions. Knows only how its paths are built: https://platform.openai.com/docs/api-reference.
 */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { PassthroughPath } from '../core/api.ts';
import { passedMethod, passedRoute, readResourcePath } from '../core/requests/passthrough-route.ts';
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

/** Resources of an organisation rather than a project, which require an admin key. */
const adminRoots = new Set(['organization', 'projects']);

/** Routes, by label, that only store, change or stop something and run no model. */
const storing = boundedPattern(
  /^\/(?:(?:files|assistants|videos\/characters)(?:\/\{id\})?|chat\/completions\/\{id\}|uploads(?:\/\{id\}(?:\/parts|\/complete)?)?|(?:conversations|skills|threads)(?:\/\{id\}(?:\/(?:items|versions|messages)(?:\/\{id\})?)?)?|.{1,500}\/cancel)$/,
);

/** `path` below `/v1`, percent-encoded. Null if it is not a path of OpenAI's API. */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readResourcePath(path);
  // A path below a deployment names a model, which passthrough would not check.
  if (!knownMethod || !found || found.root === 'deployments') return null;
  if (adminRoots.has(found.root)) return { refusal: adminRefusal };
  if (path === '/videos') return { refusal: videosRefusal };
  const isStoring = storing.test(found.label);
  return passedRoute(knownMethod, { ...found, wire: passthrough, isStoring, objectMember: 'id' });
}

const adminRefusal =
  "Sluice does not pass on the API that administers an organisation (/v1/organization, /v1/projects): call the provider itself, with that organisation's admin key.";

const videosRefusal =
  'Sluice does not pass on the list of videos, which would show those of other groups: keep the id of each video that you make.';
