/** Limits of OpenAI's models that apply to both of its APIs. */
import type { OpenaiFacts } from '../../../models/model-facts.ts';
import { effortOf, isOff, nearestEffort } from './reasoning-effort.ts';
import type { Rendering } from './rendering.ts';

/** Undefined for models that do not reason, which refuse the parameter. */
export function effortFor(rendering: Rendering, { efforts }: OpenaiFacts): string | undefined {
  const { reasoning } = rendering.conversation;
  const effort = reasoning && effortOf(reasoning);
  if (effort === undefined) return undefined;
  const nearest = nearestEffort(effort, efforts);
  if (nearest === undefined && !isOff(reasoning)) rendering.drop('reasoning', effort, 'model-takes-none');
  else if (nearest !== undefined && nearest !== effort) rendering.emulate('reasoning', 'out-of-range');
  return nearest;
}

export function temperatureOf(
  rendering: Rendering,
  { takesSampling }: OpenaiFacts,
): Record<string, number | undefined> {
  const { temperature, topP } = rendering.conversation.sampling;
  if (takesSampling) return { temperature, top_p: topP };
  rendering.drop('temperature', temperature === 1 ? undefined : temperature, 'model-takes-none');
  rendering.drop('topP', topP === 1 ? undefined : topP, 'model-takes-none');
  return {};
}

/** OpenAI's API reference, `safety_identifier`. */
const maxUserLength = 64;

/** The client's end user, unless the name that the client has for them is too long. */
export function userOf(rendering: Rendering): string | undefined {
  const { user } = rendering.conversation;
  if (user === undefined || user.length <= maxUserLength) return user;
  rendering.drop('user', user, 'no-equal');
  return undefined;
}
