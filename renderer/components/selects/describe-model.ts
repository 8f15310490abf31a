import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import type { Localization } from '../../messages/use-messages.ts';

/** The purpose, context size and price of a model, as far as known: `Chat · 128K · $0.25 in, $2 out`. */
export function describeModel(
  { id, contextTokens, price, isAlias }: Pick<ModelView, 'id' | 'contextTokens' | 'price' | 'isAlias'>,
  { messages, formats }: Localization,
): string {
  const names = messages.models;
  // The name of an alias says nothing about its targets.
  const use = isAlias ? null : purposeOf(id);
  return [
    use && names.uses[use],
    contextTokens !== null && names.context(formats.compact(contextTokens)),
    price && describePrice(price, { messages, formats }),
  ]
    .filter(Boolean)
    .join(' · ');
}

function describePrice(
  { inputUsd, outputUsd }: NonNullable<ModelView['price']>,
  { messages, formats }: Pick<Localization, 'messages' | 'formats'>,
): string {
  const names = messages.models;
  if (inputUsd === 0 && (outputUsd ?? 0) === 0) return names.free;
  if (outputUsd === null) return names.priceIn(formats.dollars(inputUsd));
  return names.priceInOut(formats.dollars(inputUsd), formats.dollars(outputUsd));
}
