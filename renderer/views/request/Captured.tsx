import { Link } from 'wouter';
import type { CaptureAbsence, CapturedMessage, HeaderList } from '../../../server/contract/capture.ts';
import type { QueryResults } from '../../../server/contract/queries.ts';
import type { CapturedBody, RequestView } from '../../../server/contract/request-views.ts';
import { CopyButton } from '../../components/CopyButton.tsx';
import { CopyLine } from '../../components/CopyLine.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './RequestDetail.module.css';

type CapturedProps = QueryResults['request'];

/** Headers and bodies as they were exchanged, or why there are none. */
export function Captured({ request, capture, captureAbsence }: CapturedProps) {
  const { requests: names } = useMessages();
  if (!capture) return <WhyNone request={request} absence={captureAbsence} />;
  return (
    <>
      <Headers title={names.requestHeaders} headers={capture.request.headers} />
      <Body title={names.requestBody} message={capture.request} />
      <Headers title={names.responseHeaders} headers={capture.response.headers} />
      <Body title={names.responseBody} message={capture.response} />
    </>
  );
}

interface WhyNoneProps {
  request: RequestView;
  absence: CaptureAbsence | null;
}

function WhyNone({ request: { groupId }, absence }: WhyNoneProps) {
  const { requests: names } = useMessages();
  const group = useControlState((state) => state.views?.groups.find(({ id }) => id === groupId));
  return (
    <p className={classes.note}>
      {names.captureAbsences[absence ?? 'unknown']}{' '}
      {absence === 'off' && group && !group.capture && (
        <Link href={`/groups/${group.id}`}>{names.captureMend(group.name ?? group.id)}</Link>
      )}
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

function Body({ title, message: { body, gap } }: { title: string; message: CapturedMessage<CapturedBody> }) {
  const { requests: names } = useMessages();
  if (!body) return gap && <p className={classes.note}>{`${title}: ${names.captureGaps[gap]}`}</p>;
  return (
    <details className={classes.body}>
      <summary>{title}</summary>
      {gap && <p className={classes.note}>{names.captureGaps[gap]}</p>}
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
