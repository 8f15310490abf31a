/** The part of Gemini's API that Sluice only passes through: files. Source: Google, "Files API". */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { PassthroughPath } from '../core/api.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { type Method, plainRoute } from '../core/route.ts';
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

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
const filePath = boundedPattern(/^(?:\/upload)?\/files(?:\/([^/]{1,600}))?$/);
/** Read in the decoded path, because an upstream may do so. */
const fileName = boundedPattern(/^([^:]{1,200})(:download)?$/);

/** @param path below `/v1beta`, percent-encoded; `/upload/files` for `/upload/v1beta/files`. Null if it is none of these. */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = methods.find((each) => each === method);
  const match = filePath.exec(path);
  if (!knownMethod || !match) return null;
  const [, segment] = match;
  const named = segment === undefined ? null : fileName.exec(decodeSegment(segment));
  if (segment !== undefined && !named) return null;
  const [, id = null, verb = ''] = named ?? [];
  const isReading = knownMethod === 'GET' || knownMethod === 'HEAD';
  const label = id === null ? path : `/files/{id}${verb}`;
  const route = {
    ...plainRoute,
    method: knownMethod,
    path: label,
    wire: passthrough,
    body: 'passed',
    isFree: true,
    purchases: knownMethod === 'POST' && id === null ? 'all' : 'none',
  } as const;
  return { route: { ...route, content: isReading }, label, names: id === null ? [] : [id], onlyId: id };
}
