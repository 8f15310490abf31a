import { useMemo } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { type ModelUse, purposeOf } from '../../../server/contract/model-identity.ts';
import { dayMs, hourMs } from '../../../server/contract/units.ts';
import { useControlState } from '../control/use-control.ts';
import { useGroup, useKey } from '../control/use-found.ts';
import { modelListVersion, useQuery } from '../control/use-query.ts';
import { demoId } from '../providers/providers.ts';
import { createSessionValue, useSessionFields } from '../window/session-value.ts';
import { useNow } from '../window/use-now.ts';

export interface ModelChoice {
  /** The models that the key lists. */
  models: readonly ModelView[];
  /** Whether `models` is known. */
  isLoaded: boolean;
  use: ModelUse;
  /** Model names, the most used first. */
  mostUsed: readonly string[];
  /** Any text, because a provider may accept names that it does not list. Empty until known, and if no model fits. */
  model: string;
  choose(model: string): void;
}

/** The person's choice per purpose, on any screen. */
export const chosenByUse = createSessionValue<Partial<Record<ModelUse, string>>>({});

/** A model that a key may use: its group's default or a likely one, until the person chooses another. */
export function useModelChoice(keyId: string | null, use: ModelUse): ModelChoice {
  const version = useControlState(modelListVersion);
  const { answer } = useQuery<'models'>(keyId === null ? null : { type: 'models', key: keyId }, version);
  const mostUsed = useMostUsed();
  const [chosen, choose] = useSessionFields(chosenByUse);
  const groupDefault = useGroup(useKey(keyId)?.group ?? null)?.defaults[use] ?? null;
  return useMemo(() => {
    const models = answer ?? [];
    // Waits for the second answer, so that the suggestion does not change while the person is looking at it.
    const suggested = mostUsed === null ? '' : suggestModel({ models, use, groupDefault, mostUsed });
    return {
      models,
      isLoaded: answer !== null,
      use,
      mostUsed: mostUsed ?? [],
      model: chosen[use] ?? suggested,
      choose: (model) => choose({ [use]: model }),
    };
  }, [answer, mostUsed, chosen, choose, use, groupDefault]);
}

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
  const working = filterOrAll(suited, ({ health }) => health.failure === null);
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

const spanMs = 7 * dayMs;
const stepMs = hourMs;

/** The names of the models used in the last week, the most used first; null until known. */
export function useMostUsed(): readonly string[] | null {
  const untilMs = useNow((now) => Math.ceil(now / stepMs) * stepMs);
  const { answer, problem } = useQuery<'usage'>({ type: 'usage', by: 'model', sinceMs: untilMs - spanMs, untilMs });
  return useMemo(() => {
    if (!answer) return problem ? [] : null;
    const succeeded = answer.map(({ name, requests, failed, refused }) => ({
      name,
      count: requests - failed - refused,
    }));
    return succeeded
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count)
      .flatMap(({ name }) => (name ? [name] : []));
  }, [answer, problem]);
}
