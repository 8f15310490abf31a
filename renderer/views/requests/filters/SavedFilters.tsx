import { Button, Group, Menu, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { MenuButton } from '../../../components/buttons/IconAction.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { filterOf, type ShownFilter, searchOf } from '../../../state/requests/request-filter.ts';
import { chooseColumns, useChosenColumns } from '../list/columns.ts';
import { type SavedFilter, useSavedFilters } from './use-saved-filters.ts';

interface SavedFiltersProps {
  filter: ShownFilter;
  onChoose(filter: ShownFilter): void;
}

/** Named filters stored in this browser, with the columns of the list. */
export function SavedFilters({ filter, onChoose }: SavedFiltersProps) {
  const { requests: names } = useMessages();
  const { saved, save, forget } = useSavedFilters();
  const [isNaming, setNaming] = useState(false);
  const search = searchOf(filter);
  const columns = useChosenColumns();
  const isPlain = search === '' && columns === null;
  const choose = ({ search: savedSearch, columns: savedColumns }: SavedFilter) => {
    if (savedColumns !== undefined) chooseColumns(savedColumns);
    onChoose(filterOf(new URLSearchParams(savedSearch)));
  };
  return (
    <>
      <MenuButton label={names.savedFilters} icon={<IconBookmark size={14} aria-hidden />} side="start">
        <Menu.Item onClick={() => onChoose({ pinned: true })}>{names.pins.list}</Menu.Item>
        {saved.map((each) => (
          <Menu.Item key={each.name} onClick={() => choose(each)}>
            {each.name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {isPlain && <Menu.Label>{names.saveFilterHint}</Menu.Label>}
        <Menu.Item disabled={isPlain} onClick={() => setNaming(true)}>
          {names.saveFilter}
        </Menu.Item>
        {saved.map(({ name }) => (
          <Menu.Item
            key={name}
            color="red"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={() => forget(name)}
          >
            {names.forgetFilter(name)}
          </Menu.Item>
        ))}
      </MenuButton>
      <NameDialog
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => {
          save({ name, search, columns });
          setNaming(false);
        }}
      />
    </>
  );
}

interface NameDialogProps {
  isOpen: boolean;
  onClose(): void;
  onName(name: string): void;
}

function NameDialog({ isOpen, onClose, onName }: NameDialogProps) {
  const { requests: names, cancel } = useMessages();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    onName(name.trim());
    setName('');
  };
  return (
    <ModalFrame opened={isOpen} onClose={onClose} title={names.saveFilterTitle}>
      <form onSubmit={submit}>
        <TextInput
          label={names.filterName}
          description={names.filterNameHint}
          value={name}
          maxLength={60}
          data-autofocus
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" disabled={name.trim() === ''}>
            {names.saveFilterDone}
          </Button>
        </Group>
      </form>
    </ModalFrame>
  );
}
