/** Routes of Anthropic's API, those that Sluice serves itself and those that it passes on. */

import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { type PassthroughPath, plainRoute, type Route } from '../core/api.ts';
import { passedMethod, passedRoute, readResourcePath, unreportedUsage } from '../core/requests/passthrough-route.ts';
import type { Wire } from '../core/wire.ts';
import { messages } from './messages.ts';

/**
 * `POST /v1/messages/count_tokens`: the request of `POST /v1/messages` without the limits of its answer. Bedrock counts them as
 * `inputTokens`.
 */
const messagesTokenCount: Wire = {
  ...messages,
  whole: { ...messages.whole, members: ['input_tokens', 'inputTokens'] },
  stream: null,
  rescue: null,
};

const post = { ...plainRoute, method: 'POST', wire: messages, model: 'required' } as const;

export const anthropicRoutes: readonly Route[] = [
  { ...post, path: '/messages', stream: messages.stream },
  {
    ...post,
    path: '/messages/count_tokens',
    wire: messagesTokenCount,
    isFree: true,
    writeTokenCount: (tokens) => ({ input_tokens: tokens }),
  },
];

const passthrough: Wire = {
  ...messages,
  name: 'anthropic-passthrough',
  operation: 'passthrough',
  usage: unreportedUsage,
  stream: null,
};

/** Paths, by label, on which nothing runs a model: they store, change or stop something. */
const storing = boundedPattern(
  /^\/(?:files|skills|agents|environments|vaults|memory_stores|user_profiles)(?:\/.{1,500})?$|\/(?:cancel|archive)$/,
);

/**
 * The parts of Anthropic's API that Sluice does not serve itself: message batches, files, skills, agents, sessions,
 * environments, vaults, memory stores, user profiles, the old `/complete`, and future additions. Knows only how its
 * paths are built. Source: Anthropic's API reference, and the resources of its SDKs.
 *
 * @param path below `/v1`, percent-encoded; the result is null if it cannot be a path of Anthropic's API
 */
export function passthroughPath(method: string, path: string): PassthroughPath | null {
  const knownMethod = passedMethod(method);
  const found = readResourcePath(path);
  if (!knownMethod || !found) return null;
  if (found.root === 'organizations') return { refusal: adminRefusal };
  const isStoring = storing.test(found.label);
  return passedRoute(knownMethod, { ...found, wire: passthrough, isStoring, objectMember: 'id' });
}

const adminRefusal =
  "Sluice does not pass on the API that administers an organisation (/v1/organizations): call the provider itself, with that organisation's admin key.";
