import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  type UniqueIdentifier,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { IconGripVertical } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './SortableList.module.css';

interface SortableItem {
  id: string;
  /** For screen readers, which announce the position. */
  name: string;
  content: ReactNode;
}

interface SortableListProps {
  /** Names the items that are ordered. */
  label: string;
  items: readonly SortableItem[];
  onMove(from: number, to: number): void;
}

/** A list that can be reordered with the pointer or the keyboard. */
export function SortableList({ label, items, onMove }: SortableListProps) {
  const { sortable: names } = useMessages();
  const sensors = useSensors(
    // A click on the handle is not a move.
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const indexOf = (id: UniqueIdentifier | undefined) => items.findIndex((item) => item.id === id);
  const nameOf = (id: UniqueIdentifier) => items[indexOf(id)]?.name ?? '';
  const end = ({ active, over }: DragEndEvent) => {
    const [from, to] = [indexOf(active.id), indexOf(over?.id)];
    if (to !== -1 && from !== to) onMove(from, to);
  };
  const placeOf = (id: UniqueIdentifier | undefined) => indexOf(id) + 1;
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={end}
      accessibility={{
        screenReaderInstructions: { draggable: names.instructions },
        announcements: {
          onDragStart: ({ active }) => names.lifted(nameOf(active.id)),
          onDragOver: ({ active, over }) => names.movedTo(nameOf(active.id), placeOf(over?.id)),
          onDragEnd: ({ active, over }) => names.dropped(nameOf(active.id), placeOf(over?.id)),
          onDragCancel: ({ active }) => names.cancelled(nameOf(active.id)),
        },
      }}
    >
      <SortableContext items={items.map(({ id }) => id)} strategy={verticalListSortingStrategy}>
        <ol className={classes.list} aria-label={label}>
          {items.map((item) => (
            <Row key={item.id} item={item} />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  );
}

function Row({ item }: { item: SortableItem }) {
  const { sortable: names } = useMessages();
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id: item.id,
    attributes: { roleDescription: names.role },
  });
  return (
    <li
      ref={setNodeRef}
      className={isDragging ? `${classes.row} ${classes.dragged}` : classes.row}
      style={{ transform: CSS.Translate.toString(transform), transition }}
    >
      <button
        type="button"
        ref={setActivatorNodeRef}
        className={classes.handle}
        {...attributes}
        {...listeners}
        aria-label={names.move(item.name)}
        // Escape cancels the move and does not close the dialog around it.
        data-mantine-stop-propagation={isDragging}
      >
        <IconGripVertical size={16} aria-hidden />
      </button>
      <div className={classes.content}>{item.content}</div>
    </li>
  );
}
