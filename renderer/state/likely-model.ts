import type { ModelView } from '../../server/contract/access-views.ts';
import { type ModelUse, purposeOf } from '../../server/contract/model-use.ts';

export interface LikelyQuestion {
  /** What the key lists. */
  models: readonly Pick<ModelView, 'id' | 'health'>[];
  use: ModelUse;
  /** The default of the key's group; null: none. */
  usual: string | null;
  /** Names by how often they were used of late, the most used first. */
  mostUsed: readonly string[];
}

/**
 * The group's default, else the most used one that works and seems made for the purpose, else the first such. An empty text
 * where nothing seems made for it: another kind of model would only be refused.
 */
export function likelyModel(question: LikelyQuestion): string {
  const { models, use, usual, mostUsed } = question;
  const isListed = (name: string) => models.some(({ id }) => id === name);
  if (usual !== null && isListed(usual)) return usual;
  const made = models.filter(({ id }) => purposeOf(id) === use);
  // Some services judge texts by a model for everything.
  if (made.length === 0) return use === 'moderations' ? likelyModel({ ...question, use: 'chat' }) : '';
  const working = made.filter(({ health }) => health === 'ok');
  const chosen = working.length > 0 ? working : made;
  return mostUsed.find((name) => chosen.some(({ id }) => id === name)) ?? chosen[0]?.id ?? '';
}
