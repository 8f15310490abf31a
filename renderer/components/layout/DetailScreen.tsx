import { Button } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Lock } from '../../../server/contract/lock.ts';
import { pathOf } from '../../../server/contract/places.ts';
import { useMessages } from '../../messages/use-messages.ts';
import type { ControlError } from '../../state/api/api.ts';
import { useCanChange } from '../../state/rights/use-rights.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EmptyNote } from '../feedback/EmptyNote.tsx';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import { LockMark } from '../locks/LockMark.tsx';
import { Screen } from './Screen.tsx';

interface DetailScreenProps<Item> {
  /** The parent screen with the list. */
  name: 'groups' | 'providers';
  id: string;
  /** Null: there is none, or it is not known yet. */
  item: Item | null;
  /** What people call it; null with it. */
  title: string | null;
  isKnown: boolean;
  /** Why it could not be asked for. */
  problem?: ControlError | null;
  /** Against its removal. */
  lock: Lock | null;
  /** Asks for confirmation. */
  onRemove(): void;
  children(item: Item): ReactNode;
}

/** One of a list in full, with the way back and its removal; or the word that it is gone. */
export function DetailScreen<Item>(props: DetailScreenProps<Item>) {
  const { name, id, item, title, isKnown, problem, lock, onRemove, children } = props;
  const { backToAll, goneTitle, goneNext, removeOpen } = useMessages()[name];
  const canChange = useCanChange();
  const remove = item && (
    <>
      <LockMark lock={lock} />
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTrash size={14} />}
        disabled={!canChange || lock !== null}
        onClick={onRemove}
      >
        {removeOpen}
      </Button>
    </>
  );
  return (
    <Screen name={name} item={{ title, listHref: pathOf(name), backLabel: backToAll }} action={remove}>
      {!isKnown && !problem && <ListSkeleton rows={3} rowHeight={120} />}
      {problem && <CommandProblem problem={problem} />}
      {isKnown && !item && <EmptyNote title={goneTitle(id)} next={goneNext} />}
      {item && children(item)}
    </Screen>
  );
}
