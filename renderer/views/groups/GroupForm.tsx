import { Stack, TagsInput, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { FormEvent } from 'react';
import type { GroupView } from '../../../server/contract/access-views.ts';
import { FormActions } from '../../components/forms/FormActions.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { Lockable } from '../../components/locks/Lockable.tsx';
import { TestingLine } from '../../components/testing/TestingLine.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { modelListVersion, useQuery } from '../../state/control/use-query.ts';
import { useEdits } from '../../state/edits/edits.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { CaptureField } from './fields/CaptureField.tsx';
import { DefaultModels } from './fields/DefaultModels.tsx';
import { GroupLimits } from './fields/GroupLimits.tsx';
import { type DraftProps, draftOf, groupOf } from './fields/group-draft.ts';
import { PassthroughField } from './fields/PassthroughField.tsx';
import { PolicyFields } from './fields/PolicyFields.tsx';
import { ProviderOrder } from './fields/ProviderOrder.tsx';
import classes from './Groups.module.css';
import { KeysLink } from './KeysLink.tsx';
import { ModelPreview } from './ModelPreview.tsx';
import { differenceOf, type ModelDifference } from './model-difference.ts';

/** Long enough that not every key press sends a query. */
const typingPauseMs = 150;

/** The form of a group, beside a preview of the models that it allows before it is saved. */
export function GroupForm({ group }: { group: GroupView }) {
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
