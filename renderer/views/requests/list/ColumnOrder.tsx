import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { moveItem } from '../../../components/lists/move-item.ts';
import { SortableList } from '../../../components/lists/SortableList.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { type ColumnName, chooseColumns, columnNames, fixedColumn } from './columns.ts';

/** Every column: which are shown, in the order in which they are. Each change shows in the list at once. */
export function ColumnOrder({ columns }: { columns: readonly ColumnName[] }) {
  const { requests: names } = useMessages();
  // Those that are not shown keep their places while the choice is open.
  const [order, setOrder] = useState<readonly ColumnName[]>(() => inOrderOf(columns));
  const choose = (next: readonly ColumnName[], isShown: (name: ColumnName) => boolean) => {
    setOrder(next);
    chooseColumns(next.filter(isShown));
  };
  const isShown = (name: ColumnName) => columns.includes(name);
  return (
    <>
      <SortableList
        label={names.chooseColumns}
        items={order.map((name) => ({
          id: name,
          name: names.columns[name],
          content: (
            <Checkbox
              size="xs"
              label={names.columns[name]}
              checked={isShown(name)}
              disabled={name === fixedColumn}
              onChange={({ currentTarget: { checked } }) =>
                choose(order, (each) => (each === name ? checked : isShown(each)))
              }
            />
          ),
        }))}
        onMove={(from, to) => choose(moveItem(order, from, to), isShown)}
      />
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => {
          chooseColumns(null);
          setOrder(columnNames);
        }}
      >
        {names.usualColumns}
      </Button>
    </>
  );
}

/** Those that are shown, and each other one behind the one that it usually follows. */
function inOrderOf(shown: readonly ColumnName[]): ColumnName[] {
  const order = [...shown];
  for (const [index, name] of columnNames.entries()) {
    if (order.includes(name)) continue;
    const before = columnNames.slice(0, index).findLast((each) => order.includes(each));
    order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, name);
  }
  return order;
}
