/**
 * The parts of Gemini's API that Sluice does not serve itself: files, caches, batches, interactions, file search stores, tokens
 * for the Live API, long-running operations such as Veo's, and future additions. Knows only how its paths are built: names and
 * ids take turns, and a verb may follow after a colon. Source: Google, "Gemini API reference"; AIP-122 and AIP-136.
 */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { PassthroughPath } from '../core/api.ts';
import { passedMethod, passedRoute } from '../core/requests/passthrough-route.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { unreportedUsage } from '../core/usage/unreported-usage.ts';
import type { Wire } from '../core/wire.ts';
import { generateContent } from './generate.ts';

const passthrough: Wire = {
  ...generateContent,
  name: 'gemini-passthrough',
  operation: 'passthrough',
  usage: unreportedUsage,
  stream: null,
};

/** `fileSearchStores`, `auth_tokens`. */
const collection = boundedPattern(/^[a-z]{1,40}(?:[A-Z_][a-z]{1,40}){0,5}$/);
/** The last segment in the decoded path, because an upstream may read it there. */
const idAndVerb = boundedPattern(/^([^:]{0,500})(?::([a-z]{1,40}(?:[A-Z][a-z]{1,40}){0,5}))?$/);
const maxSegments = 8;

/** A model that a verb of several words follows (`predictLongRunning`), or whose operation is asked for. */
const passedOfModel = boundedPattern(
  /^\/(?:models|tunedModels)\/.{1,500}(?:(?::|%3[aA])[a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,5}|\/operations\/[^/]{1,500})$/,
);

/** Whether the path names a model, but asks for something else than its description. */
export function isPassedOfModel(path: string): boolean {
  return passedOfModel.test(path);
}

/** Paths, by label, on which nothing runs a model and nothing is billed by its size. */
const storing = boundedPattern(
  /^(?:\/upload)?\/files(?:[/:].{1,500})?$|^\/fileSearchStores(?:\/\{id\})?$|:cancel$|\/cancel$/,
);

/** @param path below the version, percent-encoded; `/upload/files` for `/upload/v1beta/files`. Null if it cannot be one of these */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readPath(path);
  if (!knownMethod || !found) return null;
  const { label, names } = found;
  // The name of a token is the token itself.
  const objectMember = label === '/auth_tokens' ? null : 'name';
  const isStoring = storing.test(label);
  return passedRoute(knownMethod, { label, names, ids: names, wire: passthrough, isStoring, objectMember });
}

/** `names` are the ids of objects, decoded. A model is none. */
function readPath(path: string): { label: string; names: string[] } | null {
  const segments = path.split('/').slice(1).map(decodeSegment);
  const [last = ''] = segments.splice(-1);
  const [, lastName, verb] = idAndVerb.exec(last) ?? [];
  if (lastName === undefined || segments.length >= maxSegments) return null;
  const labels: string[] = [];
  const names: string[] = [];
  let before = '';
  for (const segment of [...segments, lastName]) {
    const isId = before !== '' && before !== 'upload' && segment !== 'operations';
    if (segment === '' || (!isId && !collection.test(segment))) return null;
    const isModel = before === 'models' || before === 'tunedModels';
    labels.push(isModel ? '{model}' : isId ? '{id}' : segment);
    if (isId && !isModel) names.push(segment);
    before = isId ? '' : segment;
  }
  return { label: `/${labels.join('/')}${verb === undefined ? '' : `:${verb}`}`, names };
}
