import { Combobox, InputBase, type InputBaseProps, useCombobox } from '@mantine/core';
import { type ReactNode, type Ref, useId, useState } from 'react';
import classes from './ModelField.module.css';

export interface Suggestion {
  value: string;
  /** Shown for it; the value itself if absent. */
  content?: ReactNode;
}

export interface SuggestionGroup {
  /** Null if there is but one group. */
  label: string | null;
  options: readonly Suggestion[];
}

interface SuggestFieldProps extends Pick<InputBaseProps, 'label' | 'description' | 'error' | 'size' | 'className'> {
  'aria-label'?: string | undefined;
  placeholder?: string;
  value: string;
  onChange(value: string): void;
  /** For what was typed since the list was opened; all of them if that is nothing. */
  suggest(typed: string): readonly SuggestionGroup[];
  /** Names the list. */
  listLabel: string;
  /** In place of a list without suggestions; no list is then opened if it is absent. */
  empty?: ReactNode;
  maxLength: number;
  inputRef?: Ref<HTMLInputElement> | undefined;
}

/** Puts the drop-down inside a landmark of the page. */
const inMain = { target: 'main' };

/** A text field that suggests values. When opened, it lists all of them, whatever its value; any other text can be typed. */
export function SuggestField({ value, onChange, suggest, listLabel, empty, inputRef, ...input }: SuggestFieldProps) {
  // The text typed since the list was opened; null if nothing was typed.
  const [typed, setTyped] = useState<string | null>(null);
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.selectActiveOption(),
    onDropdownClose() {
      combobox.resetSelectedOption();
      setTyped(null);
    },
  });
  const groups = combobox.dropdownOpened ? suggest(typed ?? '') : [];
  const listId = useId();
  const isOpen = combobox.dropdownOpened && groups.length > 0;
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(chosen) => {
        onChange(chosen);
        combobox.closeDropdown();
      }}
      // In a portal, because sections clip their content.
      withinPortal
      portalProps={inMain}
      keepMounted={false}
      width="target"
      position="bottom-start"
    >
      {/* Mantine 9.7.3 sets these attributes itself, but only from the second render on. */}
      <Combobox.Target aria-expanded={isOpen} aria-controls={isOpen ? listId : undefined}>
        <InputBase
          {...input}
          ref={inputRef}
          role="combobox"
          value={value}
          onChange={(event) => {
            const text = event.currentTarget.value;
            onChange(text);
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
        />
      </Combobox.Target>
      {(isOpen || empty !== undefined) && (
        <Combobox.Dropdown>
          {isOpen ? (
            <Combobox.Options id={listId} mah={320} className={classes.options} aria-label={listLabel}>
              {groups.map((group) => (
                <Group key={group.label ?? ''} group={group} value={value} />
              ))}
            </Combobox.Options>
          ) : (
            <Combobox.Empty>{empty}</Combobox.Empty>
          )}
        </Combobox.Dropdown>
      )}
    </Combobox>
  );
}

function Group({ group: { label, options }, value }: { group: SuggestionGroup; value: string }) {
  const entries = options.map((option) => (
    <Combobox.Option key={option.value} value={option.value} active={option.value === value}>
      {option.content ?? <span className={classes.name}>{option.value}</span>}
    </Combobox.Option>
  ));
  return label === null ? entries : <Combobox.Group label={label}>{entries}</Combobox.Group>;
}
