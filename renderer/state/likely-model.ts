import type { ModelView } from '../../server/contract/access-views.ts';
import { type ModelUse, purposeOf } from '../../server/contract/model-use.ts';
import { demoId } from './demo-id.ts';

type Candidate = Pick<ModelView, 'id' | 'health' | 'providers' | 'price'>;

export interface LikelyQuestion {
  /** What the key lists. */
  models: readonly Candidate[];
  use: ModelUse;
  /** The default of the key's group; null: none. */
  usual: string | null;
  /** Names by how often they were used of late, the most used first. */
  mostUsed: readonly string[];
}

/**
 * The group's default, else the most used one that works and seems made for the purpose, else the one that costs least. The
 * demo's only where there is no other. An empty text where nothing seems made for it: another kind of model would only be refused.
 */
export function likelyModel(question: LikelyQuestion): string {
  const { models, use, usual, mostUsed } = question;
  const isListed = (name: string) => models.some(({ id }) => id === name);
  if (usual !== null && isListed(usual)) return usual;
  const made = models.filter(({ id }) => purposeOf(id) === use);
  // Some services judge texts by a model for everything.
  if (made.length === 0) return use === 'moderations' ? likelyModel({ ...question, use: 'chat' }) : '';
  const working = orAll(made, ({ health }) => health === 'ok');
  const chosen = orAll(working, ({ providers }) => !providers.includes(demoId));
  return mostUsed.find((name) => chosen.some(({ id }) => id === name)) ?? cheapest(chosen)?.id ?? '';
}

function orAll(models: readonly Candidate[], fits: (model: Candidate) => boolean): readonly Candidate[] {
  const fitting = models.filter(fits);
  return fitting.length > 0 ? fitting : models;
}

/** What is free comes after what has a price: services limit it most. */
function cheapest(models: readonly Candidate[]): Candidate | undefined {
  const priceOf = ({ price }: Candidate) =>
    price?.inputUsd ? price.inputUsd + (price.outputUsd ?? 0) : Number.POSITIVE_INFINITY;
  return models.toSorted((one, other) =>
    priceOf(one) < priceOf(other) ? -1 : Number(priceOf(one) > priceOf(other)),
  )[0];
}
