import { Button, Checkbox, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useId } from 'react';
import { greatestWeight } from '../../../../server/contract/bounds.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { moveItem } from '../../../components/lists/move-item.ts';
import { SortableList } from '../../../components/lists/SortableList.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Models.module.css';
import { sharesRankWithOthers, type TargetDraft } from './alias-draft.ts';

interface AliasTargetsProps {
  targets: readonly TargetDraft[];
  onChange(targets: TargetDraft[]): void;
}

/** The targets of an alias in order, which can be changed by drag and drop or keyboard. */
export function AliasTargets({ targets, onChange }: AliasTargetsProps) {
  const { messages, formats } = useLocalization();
  const names = messages.models.alias;
  const change = (id: string, changes: Partial<TargetDraft>) =>
    onChange(targets.map((target) => (target.id === id ? { ...target, ...changes } : target)));
  const add = () => {
    const last = targets.at(-1);
    const id = String(Math.max(-1, ...targets.map((target) => Number(target.id))) + 1);
    onChange([...targets, { id, provider: last?.provider ?? '', model: '', weight: 1, sharesRank: false }]);
  };
  const items = targets.map((target, index) => ({
    id: target.id,
    name: target.model ? `${target.provider}/${target.model}` : names.target(formats.number(index + 1)),
    content: (
      <TargetFields
        key={target.id}
        target={target}
        place={index + 1}
        weighs={sharesRankWithOthers(targets, index)}
        onChange={(changes) => change(target.id, changes)}
        onRemove={targets.length > 1 ? () => onChange(targets.filter(({ id }) => id !== target.id)) : null}
      />
    ),
  }));
  return (
    <div className={classes.targets}>
      <p className={classes.soft}>{names.targetsHint}</p>
      <SortableList label={names.targets} items={items} onMove={(from, to) => onChange(moveItem(targets, from, to))} />
      <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} className={classes.start} onClick={add}>
        {names.addTarget}
      </Button>
    </div>
  );
}

interface TargetFieldsProps {
  target: TargetDraft;
  place: number;
  weighs: boolean;
  onChange(changes: Partial<TargetDraft>): void;
  /** Null if it is the only target. */
  onRemove: (() => void) | null;
}

function TargetFields({ target, place, weighs, onChange, onRemove }: TargetFieldsProps) {
  const names = useMessages().models.alias;
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const providerName = useProviderName();
  const listId = useId();
  const modelNames = providers.find(({ id }) => id === target.provider)?.modelNames ?? [];
  return (
    <div className={classes.target}>
      <NativeSelect
        size="xs"
        aria-label={names.providerOf(place)}
        value={target.provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value })}
        data={providers.map(({ id }) => ({ value: id, label: providerName(id) }))}
      />
      <TextInput
        size="xs"
        aria-label={names.modelOf(place)}
        placeholder={names.modelPlaceholder}
        value={target.model}
        onChange={(event) => onChange({ model: event.currentTarget.value })}
        list={listId}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
      <datalist id={listId}>
        {modelNames.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {onRemove && <IconAction label={names.removeTarget(place)} icon={<IconTrash size={16} />} onClick={onRemove} />}
      {place > 1 && (
        <Checkbox
          size="xs"
          className={classes.shares}
          label={names.sharesRank}
          checked={target.sharesRank}
          onChange={(event) => onChange({ sharesRank: event.currentTarget.checked })}
        />
      )}
      <NumberInput
        size="xs"
        className={classes.context}
        aria-label={names.contextOf(place)}
        placeholder={names.contextUsual}
        suffix={names.contextSuffix}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator
        hideControls
        value={target.contextTokens ?? ''}
        onChange={(tokens) => onChange({ contextTokens: Number(tokens) || undefined })}
      />
      {weighs && (
        <NumberInput
          size="xs"
          className={classes.weight}
          aria-label={names.weightOf(place)}
          prefix={names.weightPrefix}
          min={0}
          max={greatestWeight}
          hideControls
          value={target.weight}
          onChange={(weight) => onChange({ weight: Number(weight) })}
        />
      )}
    </div>
  );
}
