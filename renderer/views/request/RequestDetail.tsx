import { IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { QueryResults } from '../../../server/contract/queries.ts';
import type { RequestView } from '../../../server/contract/request-views.ts';
import { CopyLine } from '../../components/CopyLine.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import { useCredentialName } from '../providers/use-credential-name.ts';
import { useProviderName } from '../providers/use-provider-name.ts';
import { mendOf, whyFailed } from '../requests/mend.ts';
import { Outcome } from '../requests/RequestRow.tsx';
import { Attempts } from './Attempts.tsx';
import { Captured } from './Captured.tsx';
import { curlOf } from './curl.ts';
import { Losses } from './Losses.tsx';
import classes from './RequestDetail.module.css';
import { Timeline } from './Timeline.tsx';
import { UsageFacts } from './UsageFacts.tsx';

type Answer = QueryResults['request'];

export function RequestDetail(answer: Answer) {
  const { request, capture } = answer;
  const { messages } = useLocalization();
  const names = messages.requests;
  const limits = useControlState((state) => state.views?.keys.find(({ id }) => id === request.keyId)?.limits ?? null);
  const mend = mendOf(request, limits !== null);
  const why = whyFailed(request, names.errors);
  return (
    <div className={classes.detail}>
      <p className={classes.headline}>
        <Outcome request={request} />{' '}
        <span className={classes.mono}>
          {request.method} {request.route}
        </span>
      </p>
      {request.errorCode && <p className={classes.code}>{request.errorCode}</p>}
      {why && <p className={classes.why}>{why}</p>}
      {mend && (
        <Link className={classes.mend} href={mend.href}>
          {names.mends[mend.kind]}
          <IconChevronRight size={16} aria-hidden />
        </Link>
      )}
      <Part title={names.timeline}>
        <Timeline request={request} />
      </Part>
      <Part title={names.facts}>
        <Facts request={request} />
      </Part>
      <Part title={names.usage}>
        <UsageFacts request={request} />
      </Part>
      {request.dropped.length + request.emulated.length > 0 && (
        <Part title={names.losses.title}>
          <Losses request={request} />
        </Part>
      )}
      <Part title={names.attempts}>
        <Attempts attempts={request.attempts} />
      </Part>
      <Part title={names.again}>
        <Curl request={request} capture={capture} />
      </Part>
      <Part title={names.capture}>
        <Captured {...answer} />
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.part}>
      <h3 className={classes.title}>{title}</h3>
      {children}
    </section>
  );
}

function Facts({ request }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const { factNames, streamed, notStreamed } = messages.requests;
  const keyName = useControlState((state) => state.views?.keys.find(({ id }) => id === request.keyId)?.name);
  const group = useControlState((state) => state.views?.groups.find(({ id }) => id === request.groupId));
  const { modelAsked, modelServed, provider, credential } = request;
  const providerName = useProviderName();
  const credentialName = useCredentialName();
  const isRenamed = modelServed !== null && modelServed !== modelAsked;
  const facts: [name: string, value: ReactNode][] = [
    [factNames.time, formats.fullMoment(request.startedAt)],
    [factNames.model, isRenamed ? `${modelAsked ?? '–'} → ${modelServed}` : modelAsked],
    [factNames.provider, provider && <Link href={`/providers/${provider}`}>{providerName(provider)}</Link>],
    [factNames.credential, provider && credential && credentialName(provider, credential)],
    [factNames.key, keyName ?? request.keyId],
    [factNames.group, (group && <Link href={`/groups/${group.id}`}>{group.name ?? group.id}</Link>) ?? request.groupId],
    [factNames.stream, request.stream ? streamed : notStreamed],
    [factNames.bytes, `${formats.number(request.bytesIn)} / ${formats.number(request.bytesOut)}`],
    [factNames.client, request.client],
  ];
  return (
    <>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{value || '–'}</dd>
          </div>
        ))}
      </dl>
      <CopyLine value={request.id} what={factNames.id} oneLine />
    </>
  );
}

function Curl({ request, capture }: { request: RequestView; capture: Answer['capture'] }) {
  const { messages } = useLocalization();
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? null);
  if (baseUrl === null) return null;
  const kept = capture?.request.body;
  const body = kept?.encoding === 'utf8' ? kept.data : null;
  const { keyPlaceholder, curl } = messages.requests;
  return <CopyLine value={curlOf({ request, baseUrl, body, keyPlaceholder })} what={curl} />;
}
