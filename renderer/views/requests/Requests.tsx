/** What is asked, as it comes and as far back as the ledger goes; one request in full. Knows no provider. */
import { useMemo, useState } from 'react';
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
  const [, , openId] = path.split('/');
  const id = openId ? decodeURIComponent(openId) : null;
  const [shownIds, setShownIds] = useState<readonly string[]>([]);
  /** To the request so many rows below, in the same tab; null where there is none. */
  const moveBy = (rows: number) => {
    const at = id === null ? -1 : shownIds.indexOf(id);
    const next = at === -1 ? undefined : shownIds[at + rows];
    if (next === undefined) return null;
    return () => navigate(`/requests/${encodeURIComponent(next)}${search && `?${search}`}`, { replace: true });
  };
  return (
    <Screen name="requests" action={isLive && <span className={classes.live}>{names.live}</span>}>
      <RefusedNotice />
      <RequestFilters
        filter={filter}
        onChange={(changed) => navigate(`/requests${searchOf(changed)}`, { replace: true })}
      />
      <div className={id === null ? undefined : classes.split}>
        <div className={classes.list}>
          <RequestList key={searchOf(filter)} filter={filter} openId={id} onShown={setShownIds} />
        </div>
        {id !== null && (
          <RequestPanel
            id={id}
            onClose={() => navigate(`/requests${searchOf(filter)}`, { replace: true })}
            onNext={moveBy(1)}
            onPrevious={moveBy(-1)}
          />
        )}
      </div>
    </Screen>
  );
}
