/** What the passthrough paths of all APIs have in common. */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { type Method, type PassthroughPath, plainRoute } from '../api.ts';
import type { UsageFormat, Wire } from '../wire.ts';
import { decodeSegment } from './segments.ts';

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Null for a method that no API has on such paths. */
export function passedMethod(method: string): Method | null {
  return methods.find((each) => each === method) ?? null;
}

/** A name of a resource or action in OpenAI's and Anthropic's APIs; an id contains digits, capitals or hyphens instead. */
const plainName = boundedPattern(/^[a-z]{1,40}(?:_[a-z]{1,40}){0,4}$/);
const maxSegments = 16;

function isPlainName(segment: string): boolean {
  return plainName.test(segment);
}

/** A path of names and ids below its first segment, the root; null if it cannot be one. */
export function readResourcePath(path: string): { root: string; label: string; names: string[]; ids: string[] } | null {
  const [, root = '', ...rest] = path.split('/');
  if (rest.length >= maxSegments || rest.includes('') || !isPlainName(root)) return null;
  const ids = rest.filter((segment) => !isPlainName(segment));
  const label = `/${[root, ...rest.map((segment) => (isPlainName(segment) ? segment : '{id}'))].join('/')}`;
  return { root, label, names: rest.map(decodeSegment), ids: ids.map(decodeSegment) };
}

/** Routes, by label, on which a POST makes nothing: it changes the object that it names, stops it, or searches. */
const making = boundedPattern(/^(?!.{1,500}(?:\/\{id\}|[/:]cancel|\/archive|\/search)$)/);

interface Passed extends Pick<Extract<PassthroughPath, { label: string }>, 'label' | 'names' | 'objectMember'> {
  ids: readonly string[];
  wire: Wire;
  /** Whether a request that is no reading and no deletion runs no model. */
  isStoring: boolean;
}

export function passedRoute(
  method: Method,
  { label, names, ids, wire, isStoring, objectMember }: Passed,
): PassthroughPath {
  const isReading = method === 'GET' || method === 'HEAD';
  const route = {
    ...plainRoute,
    method,
    path: label,
    wire,
    body: 'passed',
    isFree: isReading || method === 'DELETE' || isStoring,
    content: isReading,
    purchases: method === 'POST' && making.test(label) ? 'all' : 'none',
  } as const;
  // What stands last is deleted, also an object with the plain name of a resource.
  const others = method === 'DELETE' ? names.slice(0, -1) : names;
  const isOnly = method === 'DELETE' ? !others.some((name) => ids.includes(name)) : ids.length === 1;
  const onlyId = method === 'DELETE' ? names.at(-1) : ids[0];
  return { route, label, names, onlyId: isOnly && onlyId !== undefined ? onlyId : null, objectMember };
}

/** For passthrough: these requests and responses contain no usage that Sluice could price. */
export const unreportedUsage: UsageFormat<never> = {
  likely: () => ({}),
  worst: () => ({}),
  hints: () => ({}),
  read: () => ({ usage: null, certainty: 'none', status: null }),
  text: null,
};
