/** Who may use Sluice: every key with its switch; to create, show, change, rotate and revoke. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import classes from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Panel } from '../../components/Panel.tsx';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { KeyDialog } from './KeyDialog.tsx';
import { KeyRow } from './KeyRow.tsx';
import { RevokeKeyDialog } from './RevokeKeyDialog.tsx';
import { useKeyDialog } from './use-key-dialog.ts';
import { useKeyUsage } from './use-key-usage.ts';

export function Keys() {
  const { keys: names } = useMessages();
  const keys = useControlState((state) => state.views?.keys ?? null);
  const usage = useKeyUsage();
  const canChange = useCanChange();
  const [dialog, setDialog] = useKeyDialog(keys);
  const [revoking, setRevoking] = useState<KeyView | null>(null);
  const create = (
    <Button
      size="xs"
      leftSection={<IconPlus size={14} />}
      disabled={!canChange}
      onClick={() => setDialog({ act: 'create' })}
    >
      {names.create}
    </Button>
  );
  return (
    <Screen name="keys" count={keys?.length} lead={keys && keys.length < 2 && names.lead} action={create}>
      <Panel name="keys">
        {!keys && <ListSkeleton rows={2} rowHeight={60} />}
        {keys?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
        <ul className={classes.list}>
          {keys?.map((key) => (
            <KeyRow
              key={key.id}
              view={key}
              usage={usage.get(key.id) ?? null}
              onOpen={setDialog}
              onRevoke={setRevoking}
            />
          ))}
        </ul>
      </Panel>
      <KeyDialog content={dialog} onChange={setDialog} />
      <RevokeKeyDialog view={revoking} onClose={() => setRevoking(null)} />
    </Screen>
  );
}
