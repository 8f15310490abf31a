import type { ReactNode, Ref } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import { type Localization, useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ModelChoice } from '../../state/choices/use-model-choice.ts';
import { useModelCondition, useProviderName } from '../../state/providers/providers.ts';
import { ConditionDot } from '../feedback/Condition.tsx';
import classes from './ModelField.module.css';
import { optionGroups } from './model-options.ts';
import { SuggestField } from './SuggestField.tsx';

interface ModelFieldProps {
  choice: Pick<ModelChoice, 'models' | 'mostUsed' | 'model' | 'choose' | 'use'>;
  /** Replaces the label “Model”. */
  label?: string;
  /** The label is for screen readers only. */
  isBare?: boolean;
  description?: ReactNode;
  inputRef?: Ref<HTMLInputElement>;
}

/** At most this many options are rendered; typing narrows them down. */
const maxShown = 200;

/** A field for the model to call: one of those that the key lists, or any other name. */
export function ModelField({ choice, label, isBare = false, description, inputRef }: ModelFieldProps) {
  const { keyChooser, models: names } = useMessages();
  const providerName = useProviderName();
  const suggest = (typed: string) =>
    optionGroups(choice, typed, { ...names.picker, providerName }, maxShown).map((group) => ({
      label: group.label,
      options: group.models.map((model) => ({ value: model.id, content: <ModelOption model={model} /> })),
    }));
  return (
    <SuggestField
      {...{ [isBare ? 'aria-label' : 'label']: label ?? keyChooser.model }}
      description={description}
      value={choice.model}
      onChange={choice.choose}
      suggest={suggest}
      listLabel={names.picker.choices}
      empty={choice.models.length === 0 ? names.picker.none : names.picker.noneFound}
      maxLength={512}
      inputRef={inputRef}
    />
  );
}

/** A model in a drop-down list: its name, purpose, context size and price. */
function ModelOption({ model }: { model: ModelView }) {
  const localization = useLocalization();
  return (
    <span className={classes.option}>
      <span className={classes.name}>
        <ConditionDot condition={useModelCondition(model)} isNamed />
        {model.id}
      </span>
      <span className={classes.facts}>{describeModel(model, localization)}</span>
    </span>
  );
}

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
