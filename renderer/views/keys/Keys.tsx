/** All keys with their switches, and the actions to create, show, edit, rotate and revoke them. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { maxReported } from '../../../server/contract/find.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Panel } from '../../components/layout/Panel.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import classes from '../../components/lists/List.module.css';
import longListClasses from '../../components/lists/LongList.module.css';
import { ListEnd, ListSearch, shortLength } from '../../components/lists/LongList.tsx';
import { useLongList } from '../../components/lists/use-long-list.ts';
import { FindSelect } from '../../components/selects/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCount } from '../../state/control/use-found.ts';
import { useCanChange } from '../../state/rights/use-can-change.ts';
import { KeyDialog } from './dialog/KeyDialog.tsx';
import { useGroupChoice } from './dialog/use-group-choice.ts';
import { KeyRow } from './KeyRow.tsx';
import { RevokeKeyDialog } from './RevokeKeyDialog.tsx';
import { useKeyDialog } from './use-key-dialog.ts';
import { useKeyUsage } from './use-key-usage.ts';

export function Keys() {
  const { keys: names, longList } = useMessages();
  const count = useCount('key');
  const [group, chooseGroup] = useGroupChoice();
  const { answer, problem, search, setSearch, showMore } = useLongList('key', group === null ? {} : { group });
  const keys = answer?.found ?? null;
  const groupCount = useCount('group') ?? 0;
  const hasMany = (count ?? 0) > shortLength && groupCount > 1;
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
    <Screen name="keys" count={count ?? undefined} lead={count !== null && count < 2 && names.lead} action={create}>
      <Panel name="keys">
        {!keys && !problem && <ListSkeleton rows={2} rowHeight={60} />}
        {problem && <CommandProblem problem={problem} />}
        <ListSearch label={longList.searchKeys} count={count ?? 0} value={search} onChange={setSearch}>
          {(group !== null || hasMany) && (
            <FindSelect
              className={longListClasses.narrow}
              kinds={['group']}
              label={longList.group}
              isBare
              any={longList.anyGroup}
              chosen={group === null ? null : { kind: 'group', id: group }}
              onChange={(chosen) => chooseGroup(chosen?.id ?? null)}
            />
          )}
        </ListSearch>
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
        {answer && count !== 0 && (
          <ListEnd shown={answer.found.length} total={answer.total} most={maxReported} onMore={showMore} />
        )}
      </Panel>
      <KeyDialog content={dialog} onChange={setDialog} />
      <RevokeKeyDialog view={revoking} onClose={() => setRevoking(null)} />
    </Screen>
  );
}
