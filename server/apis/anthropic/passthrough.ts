/**
 * The parts of Anthropic's API that Sluice only passes through: message batches and files. Source: Anthropic's API
 * reference, "Message Batches" and "Files".
 */
import type { PassthroughPath } from '../core/api.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { type Method, plainRoute } from '../core/route.ts';
import { unreportedUsage } from '../core/usage/unreported-usage.ts';
import type { Wire } from '../core/wire.ts';
import { messages } from './messages.ts';

const passthrough: Wire = {
  ...messages,
  name: 'anthropic-passthrough',
  operation: 'passthrough',
  usage: unreportedUsage,
  stream: null,
};

/** Only batches run a model. */
const batches = '/messages/batches';
const labels = [batches, `${batches}/{id}`, `${batches}/{id}/cancel`, `${batches}/{id}/results`];
const paths = [...labels, '/files', '/files/{id}', '/files/{id}/content'].map((label) => label.split('/'));
const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'DELETE'];

/** @param path below `/v1`, percent-encoded; the result is null if it is not one of these */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = methods.find((each) => each === method);
  const segments = path.split('/');
  const pattern = paths.find((each) => isAlike(each, segments));
  if (!knownMethod || !pattern) return null;
  const label = pattern.join('/');
  const id = segments[pattern.indexOf('{id}')];
  const isReading = knownMethod === 'GET' || knownMethod === 'HEAD';
  const isFree = label !== batches || isReading;
  const isMaking = knownMethod === 'POST' && (label === batches || label === '/files');
  const route = { ...plainRoute, method: knownMethod, path: label, wire: passthrough, body: 'passed', isFree } as const;
  const purchases = isMaking ? 'all' : 'none';
  const names = segments.slice(2).map(decodeSegment);
  return {
    route: { ...route, purchases, content: isReading },
    label,
    names,
    onlyId: id === undefined ? null : decodeSegment(id),
  };
}

function isAlike(label: readonly string[], segments: readonly string[]): boolean {
  if (label.length !== segments.length) return false;
  return label.every((part, index) => part === segments[index] || (part === '{id}' && segments[index] !== ''));
}
