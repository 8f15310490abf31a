import { NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { DialogActs } from '../../../components/DialogActs.tsx';
import { FieldPart } from '../../../components/FieldPart.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/use-command.ts';
import { useControlState } from '../../../state/use-control.ts';
import { useProviderName } from '../../providers/use-provider-name.ts';
import { AmountField } from './AmountField.tsx';
import classes from './Prices.module.css';
import { amountsOf, draftOf, type FieldGroup, fieldGroups, fieldNames, hasPrice, isWrong } from './price-draft.ts';
import type { PriceRowView } from './price-list.ts';

/** The model whose price is edited. */
export type PricedModel = Pick<PriceRowView, 'provider' | 'model' | 'price'>;

interface PriceFormProps {
  /** Null for a model that is not in the list. */
  about: PricedModel | null;
  /** The suggested model name in that case. */
  name: string;
  onClose(): void;
}

/** Edits a custom price, for a model at one provider or at all of them. Starts with the price in force. */
export function PriceForm({ about, name, onClose }: PriceFormProps) {
  const { prices: names } = useMessages();
  const status = useControlState((state) => state.views?.status ?? null);
  const [draft, setDraft] = useState(() => draftOf(about?.price?.amounts ?? {}));
  const [place, setPlace] = useState({ provider: about?.provider ?? '', model: about?.model ?? name });
  const [isTried, setTried] = useState(false);
  const command = useCommand();
  const owned = about?.price?.isOwn ? about.price.entry : null;
  const entry = owned ?? entryOf(place);
  const isUnnamed = place.model.trim() === '';
  const isComplete = !isUnnamed && hasPrice(draft) && !fieldNames.some((field) => isWrong(field, draft[field]));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isComplete || !status) return;
    const { settings, revision } = status;
    const prices = { ...settings.prices, [entry]: amountsOf(draft, settings.prices[entry] ?? {}) };
    if (await command.run({ type: 'settings.update', changes: { prices }, expectedRevision: revision })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        {owned === null ? (
          <PlaceFields about={about} place={place} onChange={setPlace} isUnnamed={isTried && isUnnamed} />
        ) : (
          <p className={classes.note}>{names.ownEntry(owned)}</p>
        )}
        {owned === null && about === null && status?.settings.prices[entry] && (
          <p className={classes.note} role="status">
            {names.replaces}
          </p>
        )}
        {(Object.keys(fieldGroups) as FieldGroup[]).map((group) => (
          <AmountGroup key={group} group={group} isOpen={group === 'tokens' || hasAny(group, draft)}>
            {fieldGroups[group].map((field) => (
              <AmountField
                key={field}
                field={field}
                text={draft[field]}
                onChange={(text) => setDraft((old) => ({ ...old, [field]: text }))}
              />
            ))}
          </AmountGroup>
        ))}
        <p className={classes.note}>{names.fromNowOn}</p>
        {isTried && !hasPrice(draft) && (
          <p className={classes.error} role="alert">
            {names.nothingEntered}
          </p>
        )}
        <DialogActs command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}

interface Place {
  /** Empty for all providers. */
  provider: string;
  model: string;
}

function entryOf({ provider, model }: Place): string {
  return provider === '' ? model.trim() : `${provider}/${model.trim()}`;
}

interface PlaceFieldsProps {
  about: PricedModel | null;
  place: Place;
  onChange(place: Place): void;
  isUnnamed: boolean;
}

/** The model and provider that the price applies to. */
function PlaceFields({ about, place, onChange, isUnnamed }: PlaceFieldsProps) {
  const { prices: names } = useMessages();
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const providerName = useProviderName();
  const ids = about?.provider ? [about.provider] : providers.filter(({ isDemo }) => !isDemo).map(({ id }) => id);
  return (
    <div className={classes.place}>
      {about === null && (
        <TextInput
          label={names.model}
          description={names.modelHint}
          value={place.model}
          onChange={(event) => onChange({ ...place, model: event.currentTarget.value })}
          error={isUnnamed && names.unnamed}
          maxLength={512}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      <NativeSelect
        label={names.appliesTo}
        description={about === null ? names.appliesToHint : undefined}
        value={place.provider}
        onChange={(event) => onChange({ ...place, provider: event.currentTarget.value })}
        data={[
          ...ids.map((id) => ({ value: id, label: names.onlyAt(providerName(id)) })),
          { value: '', label: names.everywhere },
        ]}
      />
    </div>
  );
}

interface AmountGroupProps {
  group: FieldGroup;
  /** Whether it is open at first. */
  isOpen: boolean;
  children: ReactNode;
}

/** Amounts of one kind. Kinds that most models do not have are folded. */
function AmountGroup({ group, isOpen, children }: AmountGroupProps) {
  const { prices: names } = useMessages();
  const [wasOpen] = useState(isOpen);
  const { title, hint } = names.groups[group];
  if (group === 'tokens') {
    return (
      <FieldPart legend={title} hint={hint}>
        {children}
      </FieldPart>
    );
  }
  return (
    <details className={classes.group} open={wasOpen}>
      <summary>{title}</summary>
      <p className={classes.note}>{hint}</p>
      {children}
    </details>
  );
}

function hasAny(group: FieldGroup, draft: Record<string, string>): boolean {
  return fieldGroups[group].some((field) => (draft[field] ?? '') !== '');
}
