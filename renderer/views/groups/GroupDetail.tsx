import { Button } from '@mantine/core';
import { IconArrowLeft, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { GroupView } from '../../../server/contract/views.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { GroupForm } from './GroupForm.tsx';

/** One group, what it means, and its removal. */
export function GroupDetail({ id }: { id: string }) {
  const { groups: names } = useMessages();
  const groups = useControlState((state) => state.views?.groups ?? null);
  const canChange = useCanChange();
  const [, goTo] = useLocation();
  const [isRemoving, setRemoving] = useState(false);
  const group = groups?.find((each) => each.id === id);
  const acts = (
    <>
      {group && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTrash size={14} />}
          disabled={!canChange}
          onClick={() => setRemoving(true)}
        >
          {names.remove}
        </Button>
      )}
      <Button
        component={Link}
        href="/groups"
        size="xs"
        variant="default"
        leftSection={<IconArrowLeft size={14} />}
        aria-label={names.backToAll}
      >
        {names.back}
      </Button>
    </>
  );
  return (
    <Screen name="groups" action={acts}>
      {!groups && <ListSkeleton rows={3} rowHeight={120} />}
      {groups && !group && <EmptyNote title={names.goneTitle(id)} next={names.goneNext} />}
      {group && <GroupForm group={group} />}
      <RemoveGroup
        group={isRemoving ? (group ?? null) : null}
        onClose={() => setRemoving(false)}
        onRemoved={() => goTo('/groups')}
      />
    </Screen>
  );
}

interface RemoveGroupProps {
  /** Null: nothing to ask. */
  group: GroupView | null;
  onClose(): void;
  onRemoved(): void;
}

/** Asks before a group is removed, and says which keys stand in the way. */
function RemoveGroup({ group, onClose, onRemoved }: RemoveGroupProps) {
  const { groups: names } = useMessages();
  const keys = useControlState((state) => state.views?.keys ?? null) ?? [];
  const command = useCommand();
  const users = keys.filter((key) => key.group === group?.id).map((key) => key.name ?? key.id);
  const name = group?.name ?? group?.id ?? '';
  const remove = async () => {
    if (group && (await command.run({ type: 'group.remove', id: group.id }))) onRemoved();
  };
  return (
    <ConfirmDialog
      opened={group !== null}
      title={names.removeTitle}
      text={users.length > 0 ? names.removeUsed(name, users.join(', ')) : names.removeText(name)}
      confirm={users.length > 0 ? null : names.removeConfirm}
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
