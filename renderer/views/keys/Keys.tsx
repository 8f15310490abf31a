/** All keys with their switches, and the actions to create, show, edit, rotate and revoke them. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { maxReported } from '../../../server/contract/find.ts';
import type { UsageView } from '../../../server/contract/request-views.ts';
import { dayMs, quarterMs } from '../../../server/contract/units.ts';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote, GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { Panel } from '../../components/layout/Section.tsx';
import classes from '../../components/lists/List.module.css';
import longListClasses from '../../components/lists/LongList.module.css';
import { ListEnd, ListSearch, shortLength, useLongList } from '../../components/lists/LongList.tsx';
import { FindSelect } from '../../components/selects/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useCount, useOne } from '../../state/control/use-found.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { useCanChange, useRights } from '../../state/rights/use-rights.ts';
import { useNow } from '../../state/window/use-now.ts';
import { KeyDialog, type KeyDialogContent } from './dialog/KeyDialog.tsx';
import { useGroupChoice } from './dialog/KeyFields.tsx';
import { KeyRow } from './KeyRow.tsx';

export function Keys() {
  const { keys: names, longList, noPage } = useMessages();
  const count = useCount('key');
  const [group, chooseGroup] = useGroupChoice();
  const { answer, problem, search, setSearch, showMore } = useLongList('key', group === null ? {} : { group });
  const keys = answer?.found ?? null;
  const groupCount = useCount('group') ?? 0;
  const hasMany = (count ?? 0) > shortLength && groupCount > 1;
  const usage = useKeyUsage(keys?.map(({ id }) => id) ?? []);
  const canChange = useCanChange();
  const { dialog, openDialog, setDialog, gone } = useKeyDialog();
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
      {gone !== null && <GoneNote text={noPage.key(gone)} />}
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
              onOpen={openDialog}
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

/** Asks for confirmation before `view` is revoked; null while there is nothing to confirm. */
function RevokeKeyDialog({ view, onClose }: { view: KeyView | null; onClose(): void }) {
  const { keys: names } = useMessages();
  const { manages } = useRights();
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const revoke = async (id: string) => {
    if (await command.run({ type: 'key.revoke', id })) close();
  };
  const switchOff = async (id: string) => {
    if (await command.run({ type: 'key.update', id, changes: { enabled: false } })) close();
  };
  return (
    <ConfirmDialog
      opened={view !== null}
      title={names.revokeTitle}
      text={view ? names.revokeText(view.name ?? view.id) : ''}
      confirm={names.revokeConfirm}
      instead={
        view?.enabled && manages(view.group)
          ? { label: names.switchOff, onChoose: () => void switchOff(view.id) }
          : undefined
      }
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => view && void revoke(view.id)}
      onClose={close}
    />
  );
}

/**
 * The content of the dialog, and functions to open and to change it. The address opens it too: `/keys?new`, and `/keys?key=k1` for
 * the form of that key, with `&budget=usd-day` in the field of that budget. `gone`: a key in the address that does not exist.
 */
function useKeyDialog() {
  const [opened, setOpened] = useState<KeyDialogContent | null>(null);
  const search = new URLSearchParams(useSearch());
  const [path, goTo] = useLocation();
  const asked = search.get('key');
  const { view, isKnown } = useOne('key', asked);
  const fromAddress: KeyDialogContent | null = search.has('new')
    ? { act: 'create' }
    : view
      ? { act: 'edit', view }
      : null;
  const setDialog = (content: KeyDialogContent | null) => {
    setOpened(content);
    if (!fromAddress) return;
    for (const name of ['new', 'key', 'budget']) search.delete(name);
    goTo(search.size > 0 ? `${path}?${search}` : path, { replace: true });
  };
  // For the rows: `openDialog` is the same function each time, so that they are not all drawn again.
  return { dialog: opened ?? fromAddress, openDialog: setOpened, setDialog, gone: isKnown && !view ? asked : null };
}

const days = 30;
const againMs = 10_000;

/** The usage of each of these keys in the last thirty days, by id; refreshed regularly. */
function useKeyUsage(ids: string[]): ReadonlyMap<string, UsageView> {
  const asOf = useNow((now) => Math.floor(now / againMs));
  const sinceMs = useNow((now) => Math.floor(now / quarterMs) * quarterMs - days * dayMs);
  const { answer } = useQuery<'usage'>({ type: 'usage', by: 'key', names: ids, sinceMs }, asOf);
  return useMemo(() => new Map((answer ?? []).map((usage) => [usage.name ?? '', usage])), [answer]);
}
