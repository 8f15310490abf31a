/**
 * What services have been seen to refuse of requests that Sluice wrote: in memory, for each model of a provider, until the
 * provider is edited or a day has passed, since services change.
 */
import { dayMs } from '../contract/units.ts';

/** A provider as it is configured. */
interface Configured {
  id: string;
  /** Differs after each edit. */
  configuredAs: string;
}

interface OfProvider {
  configuredAs: string;
  /** By model: the members, and until when they are left out. */
  models: Map<string, Map<string, number>>;
}

/** Clients may choose the names of models. */
const maxModels = 1_000;

export class LearntRefusals {
  readonly #now: () => number;
  readonly #providers = new Map<string, OfProvider>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The members that this model's requests are sent without; null if there are none. */
  of(provider: Configured, model: string): readonly string[] | null {
    const members = this.#current(provider)?.models.get(model);
    if (!members) return null;
    for (const [member, untilMs] of members) if (untilMs <= this.#now()) members.delete(member);
    return members.size === 0 ? null : [...members.keys()];
  }

  /** The model has answered a request without the member, which it had refused. */
  learn(provider: Configured, model: string, member: string): void {
    const { id, configuredAs } = provider;
    const known = this.#current(provider) ?? { configuredAs, models: new Map<string, Map<string, number>>() };
    this.#providers.set(id, known);
    const members = known.models.get(model) ?? new Map<string, number>();
    if (!known.models.has(model) && known.models.size >= maxModels) known.models.clear();
    known.models.set(model, members);
    members.set(member, this.#now() + dayMs);
  }

  #current({ id, configuredAs }: Configured): OfProvider | undefined {
    const known = this.#providers.get(id);
    if (known === undefined || known.configuredAs === configuredAs) return known;
    this.#providers.delete(id);
    return undefined;
  }
}
