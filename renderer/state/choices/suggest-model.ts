import type { ModelView } from '../../../server/contract/access-views.ts';
import { type ModelUse, purposeOf } from '../../../server/contract/model-identity.ts';
import { demoId } from '../providers/demo-id.ts';

type Candidate = Pick<ModelView, 'id' | 'health' | 'providers' | 'price'>;

export interface ModelSuggestionInput {
  /** The models that the key lists. */
  models: readonly Candidate[];
  use: ModelUse;
  /** The default of the key's group; null if there is none. */
  groupDefault: string | null;
  /** Names of recently used models, the most used first. */
  mostUsed: readonly string[];
}

/**
 * Picks the group's default; otherwise the most used working model that seems made for the purpose, and otherwise the
 * cheapest of those. A demo model is picked only if there is no other. Returns an empty string if no model seems made
 * for the purpose, because a model of another kind would be refused.
 */
export function suggestModel(input: ModelSuggestionInput): string {
  const { models, use, groupDefault, mostUsed } = input;
  const isListed = (name: string) => models.some(({ id }) => id === name);
  if (groupDefault !== null && isListed(groupDefault)) return groupDefault;
  const suited = models.filter(({ id }) => purposeOf(id) === use);
  // Some services moderate texts with a general-purpose model.
  if (suited.length === 0) return use === 'moderations' ? suggestModel({ ...input, use: 'chat' }) : '';
  const working = filterOrAll(suited, ({ health }) => health === 'ok');
  const chosen = filterOrAll(working, ({ providers }) => !providers.includes(demoId));
  return mostUsed.find((name) => chosen.some(({ id }) => id === name)) ?? cheapest(chosen)?.id ?? '';
}

function filterOrAll(models: readonly Candidate[], matches: (model: Candidate) => boolean): readonly Candidate[] {
  const matching = models.filter(matches);
  return matching.length > 0 ? matching : models;
}

/** Free models come after those with a price, because services limit them most. */
function cheapest(models: readonly Candidate[]): Candidate | undefined {
  const priceOf = ({ price }: Candidate) =>
    price?.inputUsd ? price.inputUsd + (price.outputUsd ?? 0) : Number.POSITIVE_INFINITY;
  return models.toSorted((one, other) =>
    priceOf(one) < priceOf(other) ? -1 : Number(priceOf(one) > priceOf(other)),
  )[0];
}
