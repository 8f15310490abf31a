/** What is asked, as it comes and as far back as the ledger goes; one request in full. Knows no provider. */
import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { RequestPanel } from '../request/RequestPanel.tsx';
import { RefusedNotice } from './RefusedNotice.tsx';
import { RequestFilters } from './RequestFilters.tsx';
import { RequestList } from './RequestList.tsx';
import classes from './Requests.module.css';
import { filterOf, searchOf } from './request-filter.ts';

export function Requests() {
  const { requests: names } = useMessages();
  const [path, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => filterOf(new URLSearchParams(search)), [search]);
  const isLive = useControlState((state) => state.connection === 'open');
  const [, , id] = path.split('/');
  return (
    <Screen name="requests" action={isLive && <span className={classes.live}>{names.live}</span>}>
      <RefusedNotice />
      <RequestFilters
        filter={filter}
        onChange={(changed) => navigate(`/requests${searchOf(changed)}`, { replace: true })}
      />
      <div className={id ? classes.split : undefined}>
        <RequestList key={searchOf(filter)} filter={filter} />
        {id && (
          <RequestPanel
            id={decodeURIComponent(id)}
            onClose={() => navigate(`/requests${searchOf(filter)}`, { replace: true })}
            onNext={null}
            onPrevious={null}
          />
        )}
      </div>
    </Screen>
  );
}
