import { useState } from 'react';
import type { GroupView } from '../../../server/contract/access-views.ts';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { DetailScreen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useFound, useOne } from '../../state/control/use-found.ts';
import { useLocks } from '../../state/rights/use-rights.ts';
import { useHashLocation } from '../../state/window/hash-location.ts';
import { GroupForm } from './GroupForm.tsx';

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
