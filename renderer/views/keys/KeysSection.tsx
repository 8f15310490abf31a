import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../server/contract/views.ts';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import classes from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { KeyDialog, type KeyDialogContent } from './KeyDialog.tsx';
import { KeyRow } from './KeyRow.tsx';
import { RevokeKeyDialog } from './RevokeKeyDialog.tsx';

/** Every key with its switch; to create, show, change, rotate and revoke. */
export function KeysSection() {
  const { messages, formats } = useLocalization();
  const names = messages.keys;
  const keys = useControlState((state) => state.views?.keys ?? null);
  const canChange = useCanChange();
  const [dialog, setDialog] = useState<KeyDialogContent | null>(null);
  const [revoking, setRevoking] = useState<KeyView | null>(null);

  const create = (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPlus size={14} />}
      disabled={!canChange}
      onClick={() => setDialog({ act: 'create' })}
    >
      {names.create}
    </Button>
  );
  return (
    <Section title={names.title} count={keys ? formats.number(keys.length) : undefined} action={create}>
      {!keys && <ListSkeleton rows={2} rowHeight={60} />}
      {keys?.length === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
      {keys && keys.length > 0 && (
        <ul className={classes.list}>
          {keys.map((key) => (
            <KeyRow key={key.id} view={key} onOpen={setDialog} onRevoke={setRevoking} />
          ))}
        </ul>
      )}
      <KeyDialog content={dialog} onChange={setDialog} />
      <RevokeKeyDialog view={revoking} onClose={() => setRevoking(null)} />
    </Section>
  );
}
