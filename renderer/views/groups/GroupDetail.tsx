import { Stack, TagsInput, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { GroupView, ModelView } from '../../../server/contract/access-views.ts';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { FormActions } from '../../components/forms/FormActions.tsx';
import { DetailScreen } from '../../components/layout/Screen.tsx';
import { Section } from '../../components/layout/Section.tsx';
import list from '../../components/lists/List.module.css';
import { Lockable } from '../../components/locks/Lockable.tsx';
import { TestingLine } from '../../components/testing/TestingLine.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useFound, useOne } from '../../state/control/use-found.ts';
import { modelListVersion, useQuery } from '../../state/control/use-query.ts';
import { useEdits } from '../../state/edits/edits.ts';
import { useProviderName } from '../../state/providers/providers.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { CaptureField, DefaultModels, GroupLimits, PassthroughField, ProviderOrder } from './fields/GroupFields.tsx';
import { type DraftProps, differenceOf, draftOf, groupOf, type ModelDifference } from './fields/group-draft.ts';
import { PolicyFields } from './fields/PolicyFields.tsx';
import classes from './Groups.module.css';

/** One group, a preview of what it allows, and its removal. */
export function GroupDetail({ id }: { id: string }) {
  const { view, isKnown, problem } = useOne('group', id);
  const lock = useLocks().removing('groups', id);
  const [, goTo] = useHashLocation();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <DetailScreen
      name="groups"
      id={id}
      item={view}
      title={view && (view.name ?? view.id)}
      isKnown={isKnown}
      problem={problem}
      lock={lock}
      onRemove={() => setRemoving(true)}
    >
      {(group) => (
        <>
          <GroupForm group={group} />
          <RemoveGroup
            group={isRemoving ? group : null}
            onClose={() => setRemoving(false)}
            onRemoved={() => goTo('/groups', { discardEdits: true })}
          />
        </>
      )}
    </DetailScreen>
  );
}

/** How many of the group's keys are named, because there may be very many. */
const mostNamed = 20;

interface RemoveGroupProps {
  /** Null while there is nothing to confirm. */
  group: GroupView | null;
  onClose(): void;
  onRemoved(): void;
}

/** Asks for confirmation before a group is removed. If keys use it, names them instead. */
function RemoveGroup({ group, onClose, onRemoved }: RemoveGroupProps) {
  const { groups: names } = useMessages();
  const command = useCommand();
  const { answer } = useFound('key', group && { group: group.id, limit: mostNamed });
  const isUsed = (group?.keyCount ?? 0) > 0;
  const users = answer?.found.map((key) => key.name ?? key.id) ?? [];
  if (answer && answer.total > users.length) users.push('…');
  const name = group?.name ?? group?.id ?? '';
  const remove = async () => {
    if (group && (await command.run({ type: 'group.remove', id: group.id }))) onRemoved();
  };
  return (
    <ConfirmDialog
      opened={group !== null}
      title={names.removeTitle}
      text={isUsed ? names.removeUsed(name, users.join(', ')) : names.removeText(name)}
      confirm={isUsed ? null : names.removeConfirm}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void remove()}
      onClose={() => {
        command.forget();
        onClose();
      }}
    />
  );
}

/** Long enough that not every key press sends a query. */
const typingPauseMs = 150;

/** The form of a group, beside a preview of the models that it allows before it is saved. */
function GroupForm({ group }: { group: GroupView }) {
  const { groups: names } = useMessages();
  const edits = useEdits(draftOf(group));
  const { draft, change, isChanged, hasConflict } = edits;
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const asOf = useControlState(modelListVersion);
  const [settledDraft] = useDebouncedValue(draft, typingPauseMs);
  const preview = useQuery<'group-preview'>({ type: 'group-preview', group: groupOf(settledDraft) }, asOf);
  const saved = useQuery<'models'>({ type: 'models', group: group.id }, asOf);
  const locks = useLocks();
  const lockOf = (field: keyof GroupView) => locks.changing('groups', group.id, field);
  const command = useCommand();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const expected = revision === null ? {} : { expectedRevision: revision };
    const { cassette, cache } = group;
    if (await command.run({ type: 'group.put', group: { ...groupOf(draft), cassette, cache }, ...expected }))
      edits.settle();
  };
  const models = preview.answer?.models ?? null;
  const part = { draft, change };
  const difference = differenceOf(saved.answer, models);
  return (
    <form className={classes.pair} onSubmit={(event) => void save(event)}>
      <Section title={names.formTitle} action={<KeysLink group={group} />}>
        <Stack gap="sm" className={classes.body}>
          <Lockable lock={lockOf('name')}>
            <TextInput
              label={names.name}
              placeholder={draft.id}
              value={draft.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              maxLength={200}
              autoComplete="off"
            />
          </Lockable>
          <Lockable lock={lockOf('models')}>
            <AllowedModels {...part} />
          </Lockable>
          <Lockable lock={lockOf('deny')}>
            <DeniedModels {...part} />
          </Lockable>
          <Outcome count={models?.length ?? null} difference={difference} />
          <div>
            <ProviderOrder
              {...part}
              providers={preview.answer?.providers ?? []}
              lock={lockOf('providers') ?? lockOf('order')}
            />
            <PolicyFields {...part} lock={lockOf('policy')} />
            <DefaultModels
              {...part}
              models={models ?? []}
              refused={preview.answer?.refusedDefaults ?? []}
              lock={lockOf('defaults')}
            />
            <PassthroughField
              {...part}
              provider={preview.answer?.passthrough}
              lock={lockOf('passthrough')}
              deletionLock={lockOf('deleteUnknown')}
            />
            <GroupLimits {...part} group={group} lock={lockOf('limits')} unpricedLock={lockOf('unpriced')} />
            <CaptureField {...part} lock={lockOf('capture')} />
          </div>
          <TestingLine kind="group" id={group.id} />
          <FormActions
            isChanged={isChanged}
            conflict={hasConflict ? { onKeep: edits.keep } : null}
            command={command}
            onDiscard={edits.reload}
          />
        </Stack>
      </Section>
      <ModelPreview groupId={group.id} models={models} difference={difference} problem={preview.problem} />
    </form>
  );
}

function AllowedModels({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <TagsInput
      label={names.allowed}
      description={names.patternHint}
      placeholder={draft.models.length === 0 ? names.nothing : undefined}
      value={draft.models}
      onChange={(models) => change({ models })}
      acceptValueOnBlur
    />
  );
}

function DeniedModels({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <TagsInput
      label={names.denied}
      description={names.deniedHint}
      value={draft.deny}
      onChange={(deny) => change({ deny })}
      acceptValueOnBlur
    />
  );
}

/** One line that summarises the list beside the form. In a narrow window that list is far away. */
function Outcome({ count, difference }: { count: number | null; difference: ModelDifference }) {
  const { messages, formats } = useLocalization();
  if (count === null) return null;
  const { gained, lost } = difference;
  const names = messages.groups;
  const parts = [
    names.outcome(count, formats.number(count)),
    ...(gained.size > 0 ? [names.outcomeGained(formats.number(gained.size))] : []),
    ...(lost.length > 0 ? [names.outcomeLost(formats.number(lost.length))] : []),
  ];
  return (
    <p role="status" className={classes.outcome}>
      {parts.join(' · ')}
    </p>
  );
}

interface ModelPreviewProps {
  groupId: string;
  /** The models that the draft allows; null until known. */
  models: readonly ModelView[] | null;
  difference: ModelDifference;
  problem: ControlError | null;
}

/**
 * The models that the keys of the group can use, each linked to its route preview, and what saving would add and
 * remove.
 */
function ModelPreview({ groupId, models, difference, problem }: ModelPreviewProps) {
  const { messages, formats } = useLocalization();
  const names = messages.groups;
  const providerName = useProviderName();
  return (
    <div className={classes.preview}>
      <Section title={names.preview} count={models ? formats.number(models.length) : undefined}>
        <div className={classes.body}>
          {problem && <CommandProblem problem={problem} />}
          {!models && !problem && <ListSkeleton rows={4} rowHeight={28} />}
          {models?.length === 0 && <EmptyNote title={names.previewEmpty} next={names.previewEmptyNext} />}
          {difference.lost.length > 0 && (
            <p className={classes.lost}>
              {names.lost(formats.number(difference.lost.length))}
              {formats.gap}
              <span className={classes.mono}>{difference.lost.join(', ')}</span>
            </p>
          )}
          <ul className={classes.models}>
            {models?.map((model) => (
              <li key={model.id} className={classes.model}>
                <span className={classes.mono}>
                  <Link
                    className={classes.modelLink}
                    href={`/models?for=group:${encodeURIComponent(groupId)}&model=${encodeURIComponent(model.id)}`}
                    title={messages.models.route}
                  >
                    {model.id}
                  </Link>
                </span>
                {difference.gained.has(model.id) && <span className={classes.gained}>{names.gained}</span>}
                <span className={classes.servers}>{model.providers.map(providerName).join(', ')}</span>
              </li>
            ))}
          </ul>
        </div>
      </Section>
    </div>
  );
}

/** How many keys a group has, and the way to them. */
export function KeysLink({ group: { id, keyCount } }: { group: GroupView }) {
  const { messages, formats } = useLocalization();
  const text = messages.groups.keyCount(keyCount, formats.number(keyCount));
  if (keyCount === 0) return <span className={`${list.tag} ${classes.tag}`}>{text}</span>;
  return (
    <Link className={`${list.tag} ${classes.tag} ${classes.keys}`} href={`/keys?group=${encodeURIComponent(id)}`}>
      {text}
    </Link>
  );
}
