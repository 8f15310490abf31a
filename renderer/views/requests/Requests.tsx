/** The list of requests, live and as far back as the ledger goes, and the details of one. Knows no provider. */
import { Group } from '@mantine/core';
import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Screen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { filterOf, isLive, searchOf } from '../../state/requests/request-filter.ts';
import { CaptureControl } from './CaptureControl.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { RequestFilters } from './filters/RequestFilters.tsx';
import { RefusedNotice } from './RefusedNotice.tsx';
import { RequestBrowser } from './RequestBrowser.tsx';
import classes from './Requests.module.css';

export function Requests() {
  const { requests: names } = useMessages();
  const [path, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => filterOf(new URLSearchParams(search)), [search]);
  const isOpen = useControlState((state) => state.connection === 'open');
  const [, , id] = path.split('/');
  const acts = (
    <Group gap="xs">
      {isOpen && isLive(filter) && <span className={classes.live}>{names.live}</span>}
      <CaptureControl />
      <ExportMenu filter={filter} />
    </Group>
  );
  return (
    <Screen name="requests" fills action={acts}>
      <RefusedNotice />
      <RequestFilters
        filter={filter}
        onChange={(changed) => {
          // Typing adds one entry to the history, not one per pause.
          const replace = changed.search !== undefined && filter.search !== undefined;
          navigate(`/requests${searchOf(changed)}`, { replace });
        }}
      />
      <RequestBrowser key={searchOf(filter)} filter={filter} openId={id ? decodeURIComponent(id) : null} />
    </Screen>
  );
}
