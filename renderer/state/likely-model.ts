import type { ModelView } from '../../server/contract/access-views.ts';
import { type ModelUse, purposeOf } from '../../server/contract/model-use.ts';
import { demoId } from './demo-id.ts';

type Candidate = Pick<ModelView, 'id' | 'health' | 'providers' | 'price'>;

export interface LikelyQuestion {
  /** The models that the key lists. */
  models: readonly Candidate[];
  use: ModelUse;
  /** The default of the key's group; null if there is none. */
  usual: string | null;
  /** Names of recently used models, the most used first. */
  mostUsed: readonly string[];
}

/**
 * Picks the group's default; otherwise the most used working model that seems made for the purpose, and otherwise the
 * cheapest of those. A demo model is picked only if there is no other. Returns an empty string if no model seems made
 * for the purpose, because a model of another kind would be refused.
 */
export function likelyModel(question: LikelyQuestion): string {
  const { models, use, usual, mostUsed } = question;
  const isListed = (name: string) => models.some(({ id }) => id === name);
  if (usual !== null && isListed(usual)) return usual;
  const made = models.filter(({ id }) => purposeOf(id) === use);
  // Some services moderate texts with a general-purpose model.
  if (made.length === 0) return use === 'moderations' ? likelyModel({ ...question, use: 'chat' }) : '';
  const working = orAll(made, ({ health }) => health === 'ok');
  const chosen = orAll(working, ({ providers }) => !providers.includes(demoId));
  return mostUsed.find((name) => chosen.some(({ id }) => id === name)) ?? cheapest(chosen)?.id ?? '';
}

function orAll(models: readonly Candidate[], fits: (model: Candidate) => boolean): readonly Candidate[] {
  const fitting = models.filter(fits);
  return fitting.length > 0 ? fitting : models;
}

/** Free models come after those with a price, because services limit them most. */
function cheapest(models: readonly Candidate[]): Candidate | undefined {
  const priceOf = ({ price }: Candidate) =>
    price?.inputUsd ? price.inputUsd + (price.outputUsd ?? 0) : Number.POSITIVE_INFINITY;
  return models.toSorted((one, other) =>
    priceOf(one) < priceOf(other) ? -1 : Number(priceOf(one) > priceOf(other)),
  )[0];
}
