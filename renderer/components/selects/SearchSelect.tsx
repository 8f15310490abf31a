import { Combobox, InputBase, useCombobox } from '@mantine/core';
import { useId, useState } from 'react';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import classes from './ModelField.module.css';

export interface SearchOptions {
  label: string;
  options: { value: string; label: string; detail?: string }[];
  /** How many there are, of which `options` may be the first. */
  total: number;
}

interface SearchSelectProps {
  label?: string;
  'aria-label'?: string;
  size?: 'xs' | 'sm';
  className?: string | undefined;
  disabled?: boolean;
  value: string;
  /** Label of the chosen value. */
  shownValue: string;
  /** Label of the empty value; if absent, it cannot be chosen. */
  any?: string | undefined;
  /** The matches. */
  groups: readonly SearchOptions[];
  /** Called with null when the menu closes. */
  onSearch(text: string | null): void;
  onChange(value: string): void;
}

/** Rendered inside the page's main landmark. */
const inMain = { target: 'main' };

/** A menu whose entries are found by typing. When opened, it shows the first entries, whatever is chosen. */
export function SearchSelect(props: SearchSelectProps) {
  const { value, shownValue, onSearch, onChange, any: _, groups: __, ...inputProps } = props;
  // The text typed since the menu was opened; null if there is none.
  const [typed, setTyped] = useState<string | null>(null);
  const combobox = useCombobox({
    onDropdownOpen: () => onSearch(''),
    onDropdownClose() {
      combobox.resetSelectedOption();
      setTyped(null);
      onSearch(null);
    },
  });
  const { longList: names } = useMessages();
  const listId = useId();
  const isOpen = combobox.dropdownOpened;
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(chosen) => {
        onChange(chosen);
        combobox.closeDropdown();
      }}
      // Sections clip what is in them.
      withinPortal
      portalProps={inMain}
      keepMounted={false}
      position="bottom-start"
    >
      {/* Mantine 9.7.3 by itself knows the list only from the second drawing on. */}
      <Combobox.Target aria-expanded={isOpen} aria-controls={isOpen ? listId : undefined}>
        <InputBase
          {...inputProps}
          role="combobox"
          value={typed ?? shownValue}
          placeholder={names.typeToFind}
          onChange={({ currentTarget }) => {
            // Opening begins a search for anything.
            combobox.openDropdown();
            setTyped(currentTarget.value);
            onSearch(currentTarget.value);
            combobox.updateSelectedOptionIndex();
          }}
          onClick={() => combobox.openDropdown()}
          onFocus={(event) => event.currentTarget.select()}
          onBlur={() => combobox.closeDropdown()}
          rightSection={<Combobox.Chevron />}
          rightSectionPointerEvents="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
        />
      </Combobox.Target>
      <Combobox.Dropdown miw={240}>
        <Options {...props} id={listId} hasAny={typed === null || typed.trim() === ''} />
      </Combobox.Dropdown>
    </Combobox>
  );
}

function Options({
  id,
  value,
  any,
  groups,
  hasAny,
  ...inputProps
}: SearchSelectProps & { id: string; hasAny: boolean }) {
  const { messages, formats } = useLocalization();
  const names = messages.longList;
  const shown = groups.filter(({ options }) => options.length > 0);
  const remaining = groups.reduce((sum, { options, total }) => sum + total - options.length, 0);
  const isNothing = shown.length === 0 && groups.length > 0;
  const entries = (group: SearchOptions) =>
    group.options.map((option) => (
      <Combobox.Option key={option.value} value={option.value} active={option.value === value}>
        <span className={classes.option}>
          {option.label}
          {option.detail && <span className={classes.facts}>{option.detail}</span>}
        </span>
      </Combobox.Option>
    ));
  return (
    <>
      <Combobox.Options
        id={id}
        mah={320}
        className={classes.options}
        aria-label={inputProps.label ?? inputProps['aria-label']}
      >
        {any !== undefined && hasAny && (
          <Combobox.Option value="" active={value === ''}>
            {any}
          </Combobox.Option>
        )}
        {shown.map((group) =>
          groups.length === 1 ? (
            entries(group)
          ) : (
            <Combobox.Group key={group.label} label={group.label}>
              {entries(group)}
            </Combobox.Group>
          ),
        )}
      </Combobox.Options>
      {isNothing && <Combobox.Empty>{names.none}</Combobox.Empty>}
      {remaining > 0 && (
        <Combobox.Footer className={classes.foot}>{names.typeForMore(formats.number(remaining))}</Combobox.Footer>
      )}
    </>
  );
}
