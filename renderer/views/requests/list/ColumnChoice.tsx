import { Button, Popover } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { ColumnName } from './columns.ts';
import classes from './RequestTable.module.css';

/** Loaded on first use, with what drags rows. */
const ColumnOrder = lazy(async () => ({ default: (await import('./ColumnOrder.tsx')).ColumnOrder }));

/** Chooses the columns of the list and their order. Not shown where rows have two lines. */
export function ColumnChoice({ columns }: { columns: readonly ColumnName[] }) {
  const { requests: names } = useMessages();
  return (
    <Popover
      position="bottom-end"
      width={260}
      trapFocus
      returnFocus
      withinPortal={false}
      transitionProps={withoutMotion}
    >
      <Popover.Target>
        <Button
          className={classes.columnChoice}
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<IconColumns3 size={14} aria-hidden />}
        >
          {names.chooseColumns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.columnOrder}>
        <Suspense fallback={<ListSkeleton rows={6} rowHeight={28} />}>
          <ColumnOrder columns={columns} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}

const withoutMotion = { duration: 0 };
