import { Drawer, Skeleton, Stack } from '@mantine/core';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useQuery } from '../../state/use-query.ts';
import classes from './RequestDetail.module.css';
import { RequestDetail } from './RequestDetail.tsx';

/** One request in full, beside the list; null: none. */
export function RequestDrawer({ id, onClose }: { id: string | null; onClose(): void }) {
  const { requests: names, close } = useMessages();
  // Asked again when it has ended.
  const outcome = useControlState((state) => state.requests.find((request) => request.id === id)?.outcome ?? null);
  const { answer, problem } = useQuery<'request'>(id === null ? null : { type: 'request', id }, outcome);
  const shown = answer?.request.id === id ? answer : null;
  return (
    <Drawer.Root opened={id !== null} onClose={onClose} position="right" size={560} transitionProps={{ duration: 0 }}>
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Mantine's own head is a <header>, which would be a second banner of the page. */}
        <div className={classes.drawerHead}>
          <Drawer.Title className={classes.drawerTitle}>{names.detail}</Drawer.Title>
          <Drawer.CloseButton aria-label={close} />
        </div>
        <Drawer.Body>
          {shown && <RequestDetail {...shown} />}
          {!shown && problem && <CommandProblem problem={problem} />}
          {!shown && !problem && (
            <Stack aria-busy="true">
              <Skeleton height={20} width="60%" />
              <Skeleton height={90} />
              <Skeleton height={120} />
            </Stack>
          )}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
