import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useSearch } from 'wouter';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useCanChange } from '../../../state/rights/use-rights.ts';
import { Currency } from './Currency.tsx';
import { type PricedModel, PriceForm } from './PriceForm.tsx';
import { PriceRow } from './PriceRow.tsx';
import classes from './Prices.module.css';
import { filterRows, type PriceKind, type PriceRowView, priceKinds, rowsOf } from './prices.ts';
import { Renewal } from './Renewal.tsx';
import { ResetPrice } from './ResetPrice.tsx';

/** More rows are rendered only on request. */
const shortListLength = 12;

/** The price of each model, and custom prices. `?section=prices&model=gpt-5` links to one model. */
export function PricesPart() {
  const { messages, formats } = useLocalization();
  const { prices: names } = messages;
  const status = useControlState((state) => state.views?.status ?? null);
  const { answer, problem, refetch } = useQuery({ type: 'prices' }, status?.revision ?? null);
  const [editing, setEditing] = useState<{ edited: PricedModel | null; name: string } | null>(null);
  const [resetting, setResetting] = useState<PriceRowView | null>(null);
  const canChange = useCanChange();
  const add = (name: string) => setEditing({ edited: null, name });
  const addButton = (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPlus size={14} />}
      disabled={!canChange}
      onClick={() => add('')}
    >
      {names.add}
    </Button>
  );
  return (
    <Section title={names.title} action={addButton}>
      <div className={classes.body}>
        <p className={classes.note}>
          {names.intro(answer ? formats.day(Date.parse(`${answer.renewal.date}T12:00`)) : '…')}
        </p>
        {problem && <CommandProblem problem={problem} />}
        {!answer && !problem && <ListSkeleton rows={4} rowHeight={44} />}
        {answer && <Renewal renewal={answer.renewal} onChanged={refetch} />}
        <Currency />
        {answer && (
          <PriceList
            rows={rowsOf(answer.models, status?.settings.prices ?? {})}
            onEdit={(edited) => setEditing({ edited, name: '' })}
            onReset={setResetting}
            onAdd={add}
          />
        )}
      </div>
      <ModalFrame
        opened={editing !== null}
        onClose={() => setEditing(null)}
        title={editing?.edited ? names.editTitle(editing.edited.model) : names.addTitle}
        width="wide"
      >
        {editing && <PriceForm edited={editing.edited} name={editing.name} onClose={() => setEditing(null)} />}
      </ModalFrame>
      <ResetPrice row={resetting} onClose={() => setResetting(null)} />
    </Section>
  );
}

interface PriceListProps {
  rows: readonly PriceRowView[];
  onEdit(row: PriceRowView): void;
  onReset(row: PriceRowView): void;
  onAdd(name: string): void;
}

function PriceList({ rows, onEdit, onReset, onAdd }: PriceListProps) {
  const { messages, formats } = useLocalization();
  const { prices: names } = messages;
  const askedModel = useAskedModel();
  const [search, setSearch] = useState(askedModel);
  const [kind, setKind] = useState<PriceKind>('all');
  const [showsAll, setShowsAll] = useState(false);
  const providerName = useProviderName();
  useEffect(() => {
    if (askedModel !== '') setSearch(askedModel);
  }, [askedModel]);
  const found = filterRows(rows, { kind, search, providerName });
  const shown = showsAll ? found : found.slice(0, shortListLength);
  if (rows.length === 0) return <p className={classes.note}>{names.noModels}</p>;
  return (
    <>
      <div className={classes.filters}>
        <TextInput
          aria-label={names.search}
          placeholder={names.search}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={
            search && <CloseButton size="sm" aria-label={names.clearSearch} onClick={() => setSearch('')} />
          }
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <NativeSelect
          aria-label={names.show}
          value={kind}
          onChange={({ currentTarget }) => setKind(priceKinds.find((each) => each === currentTarget.value) ?? 'all')}
          data={priceKinds.map((each) => ({ value: each, label: names.kinds[each] }))}
        />
      </div>
      <ul className={classes.list} aria-label={names.title}>
        {shown.map((row) => (
          <PriceRow
            key={`${row.provider ?? ''}/${row.model}`}
            row={row}
            onEdit={() => onEdit(row)}
            onReset={() => onReset(row)}
          />
        ))}
      </ul>
      {found.length === 0 && (
        <p className={classes.note} role="status">
          {search.trim() === '' ? names.noneOfKind : names.noneFound(search.trim())}
          {search.trim() !== '' && (
            <Button size="compact-xs" variant="subtle" onClick={() => onAdd(search.trim())}>
              {names.addNamed(search.trim())}
            </Button>
          )}
        </p>
      )}
      {shown.length < found.length && (
        <Button size="xs" variant="default" className={classes.more} onClick={() => setShowsAll(true)}>
          {names.showAll(formats.number(found.length))}
        </Button>
      )}
    </>
  );
}

/** The model in the address; for an alias, the model of its first target. */
function useAskedModel(): string {
  const name = new URLSearchParams(useSearch()).get('model') ?? '';
  const aliases = useControlState((state) => state.views?.aliases ?? null);
  return aliases?.find((alias) => alias.name === name)?.targets[0]?.model ?? name;
}
