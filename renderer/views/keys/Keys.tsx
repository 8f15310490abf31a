/** All keys with their switches, and the actions to create, show, edit, rotate and revoke them. */
import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { maxKeysReported } from '../../../server/contract/find-keys.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import classes from '../../components/List.module.css';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { ListEnd, ListSearch, pageLength } from '../../components/LongList.tsx';
import { Panel } from '../../components/Panel.tsx';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCanChange } from '../../state/use-can-change.ts';
import { useControlState } from '../../state/use-control.ts';
import { useFoundKeys } from '../../state/use-keys.ts';
import { KeyDialog } from './KeyDialog.tsx';
import { KeyRow } from './KeyRow.tsx';
import { RevokeKeyDialog } from './RevokeKeyDialog.tsx';
import { useKeyDialog } from './use-key-dialog.ts';
import { useKeyUsage } from './use-key-usage.ts';

/** While someone types. */
const searchDelayMs = 150;

export function Keys() {
  const { keys: names, longList } = useMessages();
  const count = useControlState((state) => state.views?.keyCount);
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(pageLength);
  const [settledSearch] = useDebouncedValue(search, searchDelayMs);
  const asked = useMemo(() => ({ search: settledSearch, limit }), [settledSearch, limit]);
  const { found, problem } = useFoundKeys(asked);
  const keys = found?.keys ?? null;
  const usage = useKeyUsage(keys?.map(({ id }) => id) ?? []);
  const canChange = useCanChange();
  const [dialog, setDialog] = useKeyDialog();
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
    <Screen name="keys" count={count} lead={count !== undefined && count < 2 && names.lead} action={create}>
      <Panel name="keys">
        {!keys && !problem && <ListSkeleton rows={2} rowHeight={60} />}
        {problem && <CommandProblem problem={problem} />}
        <ListSearch label={longList.searchKeys} count={count ?? 0} value={search} onChange={setSearch} />
        {count === 0 && <EmptyNote title={names.emptyTitle} next={names.emptyNext} />}
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
        {found && count !== 0 && (
          <ListEnd
            shown={found.keys.length}
            total={found.total}
            most={maxKeysReported}
            onMore={() => setLimit((before) => Math.min(before + pageLength, maxKeysReported))}
          />
        )}
      </Panel>
      <KeyDialog content={dialog} onChange={setDialog} />
      <RevokeKeyDialog view={revoking} onClose={() => setRevoking(null)} />
    </Screen>
  );
}
