/**
 * Members that a target has refused although not the client but Sluice had written them. It is asked once more without each, and
 * if it then answers, the next requests are sent without it at once.
 */

import { type ChatFlavour, plainFlavour } from '../../apis/core/chat-flavour.ts';
import { hasOptional, refusing } from '../../apis/core/optional-members.ts';
import { parseObject } from '../../apis/json/parse-object.ts';
import type { LearntRefusals } from '../../providers/learnt-refusals.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { PreparedRequest } from '../translation/request-translation.ts';

export class RefusedMembers {
  readonly #learnt: LearntRefusals;
  /** The client's name for the model. */
  readonly #model: string;
  /** Those of this request. */
  readonly #refused = new Map<Target, Set<string>>();

  constructor(learnt: LearntRefusals, model: string) {
    this.#learnt = learnt;
    this.#model = model;
  }

  /** What the target refuses of a request that Sluice writes; undefined: nothing that is known. */
  flavourOf(target: Target): ChatFlavour | undefined {
    const known = target.provider.chatFlavourOf(this.#modelOf(target));
    const members = this.#of(target);
    return members.length === 0 ? (known ?? undefined) : members.reduce(refusing, known ?? plainFlavour);
  }

  /** Whether the target should be asked again, without this member. */
  noted(target: Target, member: string, prepared: PreparedRequest): boolean {
    if (!wasAdded(member, prepared) || this.#of(target).includes(member)) return false;
    const refused = this.#refused.get(target) ?? new Set();
    this.#refused.set(target, refused.add(member));
    return true;
  }

  /** The target has answered, so that it was the members. */
  answered(target: Target): void {
    for (const member of this.#refused.get(target) ?? [])
      this.#learnt.learn(target.provider, this.#modelOf(target), member);
  }

  #of(target: Target): readonly string[] {
    const learnt = this.#learnt.of(target.provider, this.#modelOf(target));
    const refused = this.#refused.get(target);
    return refused ? [...refused, ...(learnt ?? none)] : (learnt ?? none);
  }

  #modelOf({ model }: Target): string {
    return model ?? this.#model;
  }
}

const none: readonly string[] = [];

/** A member of the client's own body is not Sluice's to leave out. */
function wasAdded(member: string, { sendable, translation }: PreparedRequest): boolean {
  if (!translation) return member === 'stream_options' && sendable.usageAsked;
  if (translation.upstream.wire.name !== 'openai-chat') return false;
  const body = sendable.open();
  const written = Buffer.isBuffer(body) && body.includes(`"${member}":`) ? parseObject(body.toString()) : null;
  return written !== null && hasOptional(written, member);
}
