import { Link } from 'wouter';
import type { HeaderList } from '../../../server/contract/ledger.ts';
import type { QueryResults } from '../../../server/contract/queries.ts';
import type { CapturedBody, RequestView } from '../../../server/contract/request-views.ts';
import { CopyButton } from '../../components/CopyButton.tsx';
import { CopyLine } from '../../components/CopyLine.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './RequestDetail.module.css';

interface CapturedProps {
  request: RequestView;
  capture: QueryResults['request']['capture'];
}

/** Headers and bodies as they were exchanged, or why there are none. */
export function Captured({ request, capture }: CapturedProps) {
  const { requests: names } = useMessages();
  if (!capture) return <WhyNone request={request} />;
  return (
    <>
      <Headers title={names.requestHeaders} headers={capture.requestHeaders} />
      <Body title={names.requestBody} body={capture.request} />
      <Headers title={names.responseHeaders} headers={capture.responseHeaders} />
      <Body title={names.responseBody} body={capture.response} />
    </>
  );
}

function WhyNone({ request: { groupId, outcome } }: { request: RequestView }) {
  const { requests: names } = useMessages();
  const group = useControlState((state) => state.views?.groups.find(({ id }) => id === groupId));
  if (outcome === null) return <p className={classes.note}>{names.captureLater}</p>;
  if (group?.capture) return <p className={classes.note}>{names.captureGone}</p>;
  return (
    <p className={classes.note}>
      {names.captureOff}{' '}
      {group && <Link href={`/groups/${group.id}`}>{names.captureMend(group.name ?? group.id)}</Link>}
    </p>
  );
}

function Headers({ title, headers }: { title: string; headers: HeaderList | null }) {
  if (!headers) return null;
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  return (
    <details className={classes.body}>
      <summary>{title}</summary>
      <CopyLine value={lines} what={title} />
    </details>
  );
}

function Body({ title, body }: { title: string; body: CapturedBody | null }) {
  if (!body || body.data === '') return null;
  return (
    <details className={classes.body}>
      <summary>{title}</summary>
      {body.encoding === 'utf8' ? <CopyLine value={body.data} what={title} /> : <Binary body={body} what={title} />}
    </details>
  );
}

/** Nothing to be read, but something to be taken along. */
function Binary({ body, what }: { body: CapturedBody; what: string }) {
  const { requests: names } = useMessages();
  return (
    <div className={classes.binary}>
      <p className={classes.note}>{names.binary}</p>
      <CopyButton value={body.data} what={names.asBase64(what)} />
    </div>
  );
}
