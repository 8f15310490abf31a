import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useSearch } from 'wouter';
import { isLoopback } from '../../../../server/contract/address.ts';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import list from '../../../components/lists/List.module.css';
import { LockMark } from '../../../components/locks/Lockable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { Currency } from './Currency.tsx';
import { type PricedModel, PriceForm } from './PriceForm.tsx';
import classes from './Prices.module.css';
import {
  describeAmounts,
  fieldNames,
  filterRows,
  type PriceKind,
  type PriceRowView,
  priceKinds,
  rowsOf,
} from './prices.ts';
import { Renewal } from './Renewal.tsx';

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
            search && (
              <CloseButton size={24} iconSize={14} aria-label={names.clearSearch} onClick={() => setSearch('')} />
            )
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

interface PriceRowProps {
  row: PriceRowView;
  onEdit(): void;
  onReset(): void;
}

/** A model, the source of its price, and the amounts. */
function PriceRow({ row, onEdit, onReset }: PriceRowProps) {
  const localization = useLocalization();
  const { messages, formats } = localization;
  const { prices: names } = messages;
  const { provider, model, price, builtIn, unpricedRequests } = row;
  const locks = useLocks();
  const entry = price?.isOwn ? price.entry : `${provider}/${model}`;
  const lock =
    fieldNames.map((field) => locks.setting(`prices.${entry}.${field}`)).find((each) => each !== null) ?? null;
  const canChange = useCanChange() && lock === null;
  const providerName = useProviderName();
  const source = price === null ? 'none' : price.isOwn ? 'own' : price.isLocal ? 'local' : 'builtIn';
  const actionText = price?.isOwn ? names.edit : price ? names.setOwn : names.set;
  const subject = provider === null ? model : names.modelAt(model, providerName(provider));
  return (
    <li className={classes.row}>
      <div className={classes.text}>
        <div className={list.head}>
          <span className={classes.model}>{model}</span>
          {provider !== null && <span className={list.detail}>{providerName(provider)}</span>}
          <span className={price ? list.tag : `${list.tag} ${list.warning}`}>{names.whose[source]}</span>
          {unpricedRequests > 0 && (
            <span className={classes.unpriced}>
              {names.requests(unpricedRequests, formats.number(unpricedRequests))}
            </span>
          )}
          <LockMark lock={lock} />
        </div>
        {price && (
          <ul className={classes.amounts}>
            {describeAmounts(price.amounts, localization).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        {provider === null && <span className={list.detail}>{names.unused}</span>}
      </div>
      <div className={classes.acts}>
        {price === null && <LocalFree provider={provider} subject={subject} />}
        {price?.isOwn && (
          <Button
            size="compact-sm"
            variant="subtle"
            disabled={!canChange}
            aria-label={names.actOn(builtIn ? names.reset : names.remove, subject)}
            onClick={onReset}
          >
            {builtIn ? names.reset : names.remove}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          disabled={!canChange}
          aria-label={names.actOn(actionText, subject)}
          onClick={onEdit}
        >
          {actionText}
        </Button>
      </div>
    </li>
  );
}

/** What has no price on this machine most likely costs nothing. Only proposed, because it may be a proxy to what is paid for. */
function LocalFree({ provider, subject }: { provider: string | null; subject: string }) {
  const { prices: names, providers } = useLocalization().messages;
  const address = useControlState(({ views }) => views?.providers.find(({ id }) => id === provider)?.baseUrl ?? null);
  const isOpen = useControlState(
    ({ views }) => views?.providers.some(({ id, free }) => id === provider && free === null) ?? false,
  );
  const lock = useLocks().changing('providers', provider ?? '', 'free');
  const canChange = useCanChange() && lock === null;
  const command = useCommand();
  if (provider === null || !isOpen || address === null || !isLoopback(URL.parse(address)?.hostname ?? '')) return null;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={!canChange}
        loading={command.isRunning}
        aria-label={names.actOn(providers.connection.free, subject)}
        title={names.localFreeHint}
        onClick={() => void command.run({ type: 'provider.update', id: provider, changes: { free: true } })}
      >
        {providers.connection.free}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}

/**
 * Asks for confirmation before a custom price is removed, and shows the price that applies then. `row`: null while
 * there is nothing to confirm.
 */
function ResetPrice({ row, onClose }: { row: PriceRowView | null; onClose(): void }) {
  const localization = useLocalization();
  const { prices: names } = localization.messages;
  const status = useControlState((state) => state.views?.status ?? null);
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const entry = row?.price?.entry ?? '';
  const reset = async () => {
    if (!status) return;
    const { [entry]: _, ...prices } = status.settings.prices;
    const { revision } = status;
    if (await command.run({ type: 'settings.update', changes: { prices }, expectedRevision: revision })) close();
  };
  const then = row?.builtIn ? describeAmounts(row.builtIn.amounts, localization).join(', ') : null;
  return (
    <ConfirmDialog
      opened={row !== null}
      title={row?.builtIn ? names.resetTitle : names.removeTitle}
      text={then === null ? names.removeText(entry) : names.resetText(entry, then)}
      confirm={row?.builtIn ? names.reset : names.remove}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void reset()}
      onClose={close}
    />
  );
}
