import { useMemo } from 'react';
import { CopyLine } from '../../components/CopyLine.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { ListSkeleton } from '../../components/ListSkeleton.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { LiveRequest } from '../../state/live-request.ts';
import { useControlState } from '../../state/use-control.ts';
import { RequestRow } from './RequestRow.tsx';
import classes from './RequestsSection.module.css';

/** The latest requests, as they come. */
export function RequestsSection() {
  const { requests: names } = useMessages();
  const requests = useControlState((state) => (state.views ? state.requests : null));
  const isLive = useControlState((state) => state.connection === 'open');
  return (
    <Section title={names.title} action={isLive && <span className={classes.live}>{names.live}</span>}>
      {!requests && <ListSkeleton rows={5} rowHeight={36} />}
      {requests?.length === 0 && <FirstRequest />}
      {requests && requests.length > 0 && <RequestTable requests={requests} />}
    </Section>
  );
}

function RequestTable({ requests }: { requests: readonly LiveRequest[] }) {
  const { columns } = useMessages().requests;
  const keys = useControlState((state) => state.views?.keys ?? null);
  const keyNames = useMemo(() => new Map(keys?.map(({ id, name }) => [id, name ?? id])), [keys]);
  return (
    <div className={classes.scroller}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th className={classes.status}>{columns.status}</th>
            <th className={classes.time}>{columns.time}</th>
            <th className={classes.request}>{columns.request}</th>
            <th className={classes.model}>{columns.model}</th>
            <th className={classes.provider}>{columns.provider}</th>
            <th className={classes.key}>{columns.key}</th>
            <th className={`${classes.duration} ${classes.end}`}>{columns.duration}</th>
            <th className={`${classes.tokens} ${classes.end}`}>{columns.tokens}</th>
            <th className={`${classes.cost} ${classes.end}`}>{columns.cost}</th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <RequestRow
              key={request.id}
              request={request}
              keyName={request.keyId === null ? null : (keyNames.get(request.keyId) ?? request.keyId)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FirstRequest() {
  const { requests: names, command } = useMessages();
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? null);
  return (
    <EmptyNote title={names.emptyTitle} next={names.emptyNext}>
      {baseUrl && (
        <CopyLine value={`curl ${baseUrl}/models -H "Authorization: Bearer ${names.keyPlaceholder}"`} what={command} />
      )}
    </EmptyNote>
  );
}
