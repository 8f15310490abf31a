import { CloseButton, Combobox, TextInput, useCombobox } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, type Ref, useEffect, useId, useRef, useState } from 'react';
import { partsOf, withCondition, withoutCondition } from '../../../../server/contract/request-filter.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import type { ShownFilter } from '../../../state/requests/request-filter.ts';
import classes from '../Requests.module.css';
import { type Completion, completionsOf, type FilterValues, openFieldIn } from './completions.ts';

/** The search starts this long after the last key press. */
const restMs = 300;

/** Puts the drop-down inside a landmark of the page. */
const inMain = { target: 'main' };

interface FilterBoxProps {
  filter: ShownFilter;
  /** The known values of each field. */
  values: FilterValues;
  inputRef: Ref<HTMLInputElement>;
  onChange(filter: ShownFilter): void;
  /** Backspace was pressed where nothing is written. */
  onBackspace(): void;
}

/**
 * Where conditions such as `cost:>0.05` are written, each of which leaves for a chip once it is whole, and words, which are
 * searched in ids, names, errors and captured text. Keeps the focus while the list below changes.
 */
export function FilterBox({ filter, values, inputRef, onChange, onBackspace }: FilterBoxProps) {
  const { requests: names } = useMessages();
  const { text, setText, wrong, take } = useWritten(filter, values, onChange);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const completions = completionsOf(text, values);
  const isOpen = combobox.dropdownOpened && completions.length > 0;
  const listId = useId();
  const write = (next: string) => {
    if (/\s$/.test(next)) take(next);
    else setText(next);
    combobox.resetSelectedOption();
    if (completionsOf(next, values).length > 0) combobox.openDropdown();
    else combobox.closeDropdown();
  };
  const choose = (written: string) => {
    const chosen = completions.find((each) => each.written === written);
    if (!chosen) return;
    const next = text.slice(0, text.length - chosen.replaces) + written;
    write(chosen.isWhole ? `${next} ` : next);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Backspace' && text === '') onBackspace();
    // A completion that is pointed at is chosen by the list itself.
    if (event.key !== 'Enter' || (isOpen && combobox.getSelectedOptionIndex() !== -1)) return;
    event.preventDefault();
    take(`${text} `);
    combobox.closeDropdown();
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={choose}
      keepMounted={false}
      width="target"
      position="bottom-start"
      withinPortal
      portalProps={inMain}
    >
      <Combobox.Target aria-expanded={isOpen} aria-controls={isOpen ? listId : undefined}>
        <TextInput
          ref={inputRef}
          className={classes.search}
          type="search"
          role="combobox"
          size="xs"
          aria-label={names.search}
          placeholder={names.searchHint}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          leftSection={<IconSearch size={14} aria-hidden />}
          rightSection={
            text !== '' && (
              <CloseButton size={24} iconSize={12} aria-label={names.clearSearch} onClick={() => setText('')} />
            )
          }
          error={wrong && names.wrongCondition(wrong)}
          value={text}
          onChange={({ currentTarget }) => {
            write(currentTarget.value);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isOpen}>
        <Combobox.Options id={listId} mah={280} className={classes.completions} aria-label={names.completions}>
          {completions.map((completion) => (
            <Combobox.Option key={completion.written} value={completion.written}>
              <CompletionText completion={completion} />
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function CompletionText({ completion: { written, label, example } }: { completion: Completion }) {
  const { requests: names } = useMessages();
  return (
    <>
      <span className={classes.written}>{written}</span>{' '}
      <span className={classes.completionHint}>{example === null ? label : names.completionExample(example)}</span>
    </>
  );
}

/** What is written in the box. Its words are the search of the address, after a rest. */
function useWritten(filter: ShownFilter, values: FilterValues, onChange: FilterBoxProps['onChange']) {
  const value = filter.search ?? '';
  const [text, setText] = useState(value);
  const lastSent = useRef(value);
  const current = useRef({ filter, onChange });
  current.current = { filter, onChange };
  // The address was changed by Back, a saved filter or "Show all".
  useEffect(() => {
    if (value === lastSent.current) return;
    lastSent.current = value;
    setText(value);
  }, [value]);
  const send = (next: ShownFilter, words: string) => {
    lastSent.current = words;
    current.current.onChange(words === '' ? withoutCondition(next, 'text') : { ...next, search: words });
  };
  useEffect(() => {
    const words = wordsOf(text);
    if (words === lastSent.current) return;
    const timer = setTimeout(() => {
      lastSent.current = words;
      const { filter: last, onChange: change } = current.current;
      change(words === '' ? withoutCondition(last, 'text') : { ...last, search: words });
    }, restMs);
    return () => clearTimeout(timer);
  }, [text]);
  /** Takes the whole conditions out of a text. */
  const take = (whole: string) => {
    let next = current.current.filter;
    const left: string[] = [];
    for (const { text: part, condition } of partsOf(whole)) {
      const taken = condition && withCondition(next, values.named(condition));
      if (taken) next = taken;
      else left.push(part);
    }
    const isSame = next === current.current.filter;
    const rest = left.join(' ');
    setText(isSame ? whole : rest);
    if (isSame) return;
    // A search that was a condition stands in the box from now on.
    const said = next.search === current.current.filter.search ? wordsOf(rest) : (next.search ?? '');
    if (said !== rest) setText(said);
    send(next, said);
  };
  const wrong = partsOf(text).find(({ condition }) => condition && !withCondition({}, values.named(condition)));
  return { text, setText, wrong: wrong && /\s$/.test(text) ? wrong.text : null, take };
}

/** Without conditions, and without the field whose value is written still. */
function wordsOf(text: string): string {
  const open = openFieldIn(text);
  const words = partsOf(text.slice(0, text.length - (open?.length ?? 0))).flatMap(({ text: part, condition }) =>
    condition ? [] : [part],
  );
  return words.join(' ').slice(0, 200);
}
