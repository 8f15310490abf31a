import { Button, Group, Stack, TagsInput, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useEffect, useState } from 'react';
import type { GroupView } from '../../../server/contract/views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import { CaptureField } from './CaptureField.tsx';
import { DefaultModels } from './DefaultModels.tsx';
import classes from './Groups.module.css';
import { draftOf, type GroupDraft, groupOf } from './group-draft.ts';
import { ModelPreview } from './ModelPreview.tsx';
import { differenceOf, type ModelDifference } from './model-difference.ts';
import { ProviderOrder } from './ProviderOrder.tsx';

/** Long enough that not every letter is a question. */
const typingPauseMs = 150;

/** A group as it is changed, and beside it what that means before it is saved. */
export function GroupForm({ group }: { group: GroupView }) {
  const { groups: names } = useMessages();
  const { draft, change, isChanged, undo } = useDraft(group);
  const revision = useControlState((state) => state.views?.status.revision ?? null);
  const [settled] = useDebouncedValue(draft, typingPauseMs);
  const preview = useQuery<'group-preview'>({ type: 'group-preview', group: groupOf(settled) }, revision);
  const saved = useQuery<'models'>({ type: 'models', group: group.id }, revision);
  const canChange = useCanChange();
  const command = useCommand();
  const save = (event: FormEvent) => {
    event.preventDefault();
    void command.run({ type: 'group.put', group: groupOf(draft) });
  };
  const models = preview.answer?.models ?? null;
  const difference = differenceOf(saved.answer, models);
  return (
    <form className={classes.pair} onSubmit={save}>
      <Section title={group.name ?? group.id}>
        <Stack gap="sm" className={classes.body}>
          <TextInput
            label={names.name}
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            maxLength={200}
            autoComplete="off"
          />
          <PatternFields draft={draft} change={change} />
          <Outcome count={models?.length ?? null} difference={difference} />
          <ProviderOrder draft={draft} providers={preview.answer?.providers ?? []} change={change} />
          <DefaultModels draft={draft} models={models ?? []} change={change} />
          <CaptureField draft={draft} change={change} />
          {command.problem && <CommandProblem problem={command.problem} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" disabled={!isChanged} onClick={undo}>
              {names.undo}
            </Button>
            <Button type="submit" loading={command.isRunning} disabled={!canChange || !isChanged}>
              {names.save}
            </Button>
          </Group>
        </Stack>
      </Section>
      <ModelPreview models={models} difference={difference} problem={preview.problem} />
    </form>
  );
}

/** What every part of the form gets. */
export interface DraftProps {
  draft: GroupDraft;
  change(changes: Partial<GroupDraft>): void;
}

/** Begins anew when another group comes into force. */
function useDraft(group: GroupView) {
  const inForce = JSON.stringify(draftOf(group));
  const [draft, setDraft] = useState<GroupDraft>(() => draftOf(group));
  useEffect(() => setDraft(JSON.parse(inForce)), [inForce]);
  return {
    draft,
    change: (changes: Partial<GroupDraft>) => setDraft((old) => ({ ...old, ...changes })),
    isChanged: JSON.stringify(draft) !== inForce,
    undo: () => setDraft(JSON.parse(inForce)),
  };
}

function PatternFields({ draft, change }: DraftProps) {
  const { groups: names } = useMessages();
  return (
    <>
      <TagsInput
        label={names.allowed}
        description={names.patternHint}
        placeholder={draft.models.length === 0 ? names.nothing : undefined}
        value={draft.models}
        onChange={(models) => change({ models })}
        acceptValueOnBlur
      />
      <TagsInput
        label={names.denied}
        description={names.deniedHint}
        value={draft.deny}
        onChange={(deny) => change({ deny })}
        acceptValueOnBlur
      />
    </>
  );
}

/** In a line what the list beside it says in full: in a narrow window that list is far away. */
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
