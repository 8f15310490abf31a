import { Combobox, InputBase, useCombobox } from '@mantine/core';
import { type ReactNode, type Ref, useId, useState } from 'react';
import type { ModelView } from '../../../server/contract/access-views.ts';
import { purposeOf } from '../../../server/contract/model-identity.ts';
import { type Localization, useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ModelChoice } from '../../state/choices/use-model-choice.ts';
import { useProviderName } from '../../state/providers/providers.ts';
import classes from './ModelField.module.css';
import { optionGroups } from './model-options.ts';

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

/** Puts the drop-down inside a landmark of the page. */
const inMain = { target: 'main' };

/**
 * A field for the model to call: one of those that the key lists, or any other name. When opened, it lists all of them,
 * whatever its value.
 */
export function ModelField({ choice, label, isBare = false, description, inputRef }: ModelFieldProps) {
  const { keyChooser, models: names } = useMessages();
  // The text typed since the list was opened; null if nothing was typed, in which case all models are shown.
  const [typed, setTyped] = useState<string | null>(null);
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.selectActiveOption(),
    onDropdownClose() {
      combobox.resetSelectedOption();
      setTyped(null);
    },
  });
  const providerName = useProviderName();
  const groups = optionGroups(choice, typed ?? '', { ...names.picker, providerName }, maxShown);
  const listId = useId();
  const isOpen = combobox.dropdownOpened && groups.length > 0;
  const choose = (model: string) => {
    choice.choose(model);
    combobox.closeDropdown();
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={choose} // In a portal, because sections clip their content.
      withinPortal
      portalProps={inMain}
      keepMounted={false}
      width="target"
      position="bottom-start"
    >
      {/* Mantine 9.7.3 sets these attributes itself, but only from the second render on. */}
      <Combobox.Target aria-expanded={isOpen} aria-controls={isOpen ? listId : undefined}>
        <InputBase
          ref={inputRef}
          role="combobox"
          {...{ [isBare ? 'aria-label' : 'label']: label ?? keyChooser.model }}
          description={description}
          value={choice.model}
          onChange={(event) => {
            const text = event.currentTarget.value;
            choice.choose(text);
            setTyped(text);
            combobox.openDropdown();
            combobox.updateSelectedOptionIndex();
          }}
          onClick={() => combobox.openDropdown()}
          onFocus={(event) => event.currentTarget.select()}
          onBlur={() => combobox.closeDropdown()}
          rightSection={<Combobox.Chevron />}
          rightSectionPointerEvents="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={512}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        {groups.length > 0 ? (
          <Combobox.Options id={listId} mah={320} className={classes.options} aria-label={names.picker.choices}>
            {groups.map((group) => (
              <Combobox.Group key={group.label} label={group.label}>
                {group.models.map((model) => (
                  <Combobox.Option
                    key={`${group.label}/${model.id}`}
                    value={model.id}
                    active={model.id === choice.model}
                  >
                    <ModelOption model={model} />
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            ))}
          </Combobox.Options>
        ) : (
          <Combobox.Empty>{choice.models.length === 0 ? names.picker.none : names.picker.noneFound}</Combobox.Empty>
        )}
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** A model in a drop-down list: its name, purpose, context size and price. */
function ModelOption({ model }: { model: ModelView }) {
  const localization = useLocalization();
  const { health } = localization.messages.models;
  return (
    <span className={classes.option}>
      <span className={classes.name}>
        <span
          className={`${classes.dot} ${model.health === 'ok' ? classes.good : classes.bad}`}
          role="img"
          aria-label={health[model.health]}
          title={health[model.health]}
        />
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
