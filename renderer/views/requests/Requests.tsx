/** The list of requests, live and as far back as the ledger goes, and the details of one. Knows no provider. */
import { Button, Group } from '@mantine/core';
import { useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { CaptureControl } from './CaptureControl.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { RefusedNotice } from './RefusedNotice.tsx';
import { RequestBrowser } from './RequestBrowser.tsx';
import { RequestFilters } from './RequestFilters.tsx';
import classes from './Requests.module.css';
import { filterOf, isLive, searchOf } from './request-filter.ts';

export function Requests() {
  const { requests: names, sessions } = useMessages();
  const [path, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => filterOf(new URLSearchParams(search)), [search]);
  const isOpen = useControlState((state) => state.connection === 'open');
  const [, , id] = path.split('/');
  const acts = (
    <Group gap="xs">
      {isOpen && isLive(filter) && <span className={classes.live}>{names.live}</span>}
      <Button component={Link} href="/sessions" size="xs" variant="default">
        {sessions.openAll}
      </Button>
      <CaptureControl />
      <ExportMenu filter={filter} />
    </Group>
  );
  return (
    <Screen name="requests" action={acts}>
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
