import { Button, Checkbox, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import type { AliasView } from '../../../../server/contract/access-views.ts';
import { greatestWeight } from '../../../../server/contract/bounds.ts';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { EditConflictNotice } from '../../../components/feedback/Notices.tsx';
import { moveItem } from '../../../components/lists/move-item.ts';
import { SortableList } from '../../../components/lists/SortableList.tsx';
import { nameOptions } from '../../../components/selects/model-options.ts';
import { SuggestField } from '../../../components/selects/SuggestField.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useEdits } from '../../../state/edits/edits.ts';
import { useUnsaved } from '../../../state/edits/unsaved-edits.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from '../Models.module.css';
import { draftsOf, sharesRankWithOthers, type TargetDraft, targetsOf } from './alias-draft.ts';

interface AliasFormProps {
  /** Null for a new alias. */
  alias: AliasView | null;
  onClose(): void;
}

/** The form of an alias and its targets. An existing alias cannot be renamed, because clients use its name. */
export function AliasForm({ alias, onClose }: AliasFormProps) {
  const { models, cancel, save } = useMessages();
  const names = models.alias;
  const provider = useControlState((state) => state.views?.providers[0]?.id ?? '');
  const aliases = useControlState((state) => state.views?.aliases ?? null) ?? [];
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const [name, setName] = useState(alias?.name ?? '');
  // The alias as it is now. If it was removed meanwhile, its last state, which saving adds again.
  const current = aliases.find((each) => each.name === alias?.name) ?? alias;
  const [first] = useState({ targets: [{ provider, model: '', priority: 0, weight: 1 }] });
  const edits = useEdits({ targets: draftsOf(current ?? first) });
  const { targets } = edits.draft;
  const command = useCommand();
  // What is chosen from a list is not typed.
  useUnsaved(edits.isChanged);
  const isTaken = alias === null && aliases.some((each) => each.name === name.trim());
  const isComplete = name.trim() !== '' && !isTaken && targets.every((each) => each.provider && each.model.trim());
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete) return;
    const expected = revision === null ? {} : { expectedRevision: revision };
    const alias = { name: name.trim(), targets: targetsOf(targets) };
    if (await command.run({ type: 'alias.put', alias, ...expected })) onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <TextInput
          label={names.name}
          description={names.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={isTaken && names.nameTaken}
          readOnly={alias !== null}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <AliasTargets targets={targets} onChange={(changed) => edits.change({ targets: changed })} />
        {edits.hasConflict && !command.isRunning && <EditConflictNotice onReload={edits.reload} onKeep={edits.keep} />}
        {command.problem && <CommandProblem problem={command.problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" loading={command.isRunning} disabled={!isComplete || edits.hasConflict}>
            {save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface AliasTargetsProps {
  targets: readonly TargetDraft[];
  onChange(targets: TargetDraft[]): void;
}

/** The targets of an alias in order, which can be changed by drag and drop or keyboard. */
function AliasTargets({ targets, onChange }: AliasTargetsProps) {
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
  const { alias: names, picker } = useMessages().models;
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const providerName = useProviderName();
  const modelNames = providers.find(({ id }) => id === target.provider)?.modelNames ?? [];
  return (
    <div className={classes.target}>
      <NativeSelect
        size="xs"
        className={classes.provider}
        label={names.provider}
        aria-label={names.providerOf(place)}
        value={target.provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value })}
        data={providers.map(({ id }) => ({ value: id, label: providerName(id) }))}
      />
      <SuggestField
        size="xs"
        className={classes.targetModel}
        label={names.model}
        aria-label={names.modelOf(place)}
        placeholder={names.modelPlaceholder}
        value={target.model}
        onChange={(model) => onChange({ model })}
        suggest={(typed) => nameOptions(modelNames, typed)}
        listLabel={picker.choices}
        maxLength={256}
      />
      {onRemove && (
        <div className={classes.remove}>
          <IconAction label={names.removeTarget(place)} icon={<IconTrash size={16} />} onClick={onRemove} />
        </div>
      )}
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
        label={names.context}
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
          label={names.weight}
          aria-label={names.weightOf(place)}
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
