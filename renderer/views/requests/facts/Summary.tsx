import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type CacheNote, costOf } from '../../../../server/contract/ledger.ts';
import type { LossNote } from '../../../../server/contract/loss-codes.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { nothing } from '../../../messages/formats.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useGroup, useKey } from '../../../state/control/use-found.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { outputRateOf } from '../../../state/requests/live-request.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import classes from '../detail/RequestPanel.module.css';
import { ProviderLink, useChosenCredential } from './Attempts.tsx';
import { usageAmounts } from './usage-amounts.ts';

/** The request, its target, timing, usage and cost. */
export function Summary({ request }: { request: RequestView }) {
  const { requests: names } = useLocalization().messages;
  return (
    <>
      <Facts request={request} />
      {/* No attempt of an interrupted request is known, but what it reserved counts. */}
      {(request.attempts.length > 0 || request.usageCertainty !== 'none') && (
        <Part title={names.usage}>
          <UsageFacts request={request} />
        </Part>
      )}
      {request.dropped.length + request.emulated.length > 0 && (
        <Part title={names.losses.title}>
          <Losses request={request} />
        </Part>
      )}
    </>
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
  const names = messages.inspector;
  const key = useKey(request.keyId);
  const group = useGroup(request.groupId);
  const { modelAsked, modelServed, provider, credential, totalMs, firstByteMs } = request;
  const credentialName = useChosenCredential(provider, credential);
  const { mayOpen } = useRights();
  const groupName = group && (group.name ?? group.id);
  const groupLink = group && mayOpen('/groups') ? <Link href={`/groups/${group.id}`}>{groupName}</Link> : groupName;
  const keyLink = key && <Link href={`/keys?key=${encodeURIComponent(key.id)}`}>{key.name ?? key.id}</Link>;
  const isRenamed = modelServed !== null && modelServed !== modelAsked;
  const rate = outputRateOf(request);
  const cacheFact = ({ result, savedUsd }: CacheNote) => {
    const resultText = names.cache.results[result];
    return savedUsd === null ? resultText : `${resultText} · ${names.cache.saved(formats.dollars(savedUsd))}`;
  };
  const facts: [name: string, value: ReactNode][] = [
    [factNames.time, formats.fullMoment(request.startedAt)],
    [names.duration, totalMs !== null && formats.duration(totalMs)],
    [names.firstByte, firstByteMs !== null && formats.duration(firstByteMs)],
    [names.rate, rate !== null && names.tokensPerSecond(formats.number(rate))],
    [factNames.model, isRenamed ? `${modelAsked ?? nothing} → ${modelServed}` : modelAsked],
    [factNames.provider, provider && <ProviderLink id={provider} />],
    [factNames.credential, credentialName],
    [factNames.key, keyLink ?? request.keyId],
    [factNames.group, groupLink ?? request.groupId],
    [factNames.stream, request.stream ? streamed : notStreamed],
    [factNames.bytes, `${formats.bytes(request.bytesIn)} / ${formats.bytes(request.bytesOut)}`],
    [factNames.client, request.client],
    [names.cache.name, request.cached && cacheFact(request.cached)],
    [messages.cassettes.name, request.cassette && messages.cassettes.results[request.cassette]],
    [
      messages.requests.shadows.original,
      request.shadowOf && (
        <Link href={`/requests/${request.shadowOf.id}`}>{request.shadowOf.model ?? request.shadowOf.id}</Link>
      ),
    ],
    [messages.sessions.one, request.session && <SessionLink id={request.session.id} />],
  ];
  return (
    <>
      <dl className={classes.facts}>
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} className={classes.fact}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <CopyLine value={request.id} label={factNames.id} oneLine />
    </>
  );
}

/** The usage, how certain it is, and the cost. */
function UsageFacts({ request }: { request: RequestView }) {
  const { usage, usageCertainty } = request;
  const { messages, formats } = useLocalization();
  const { usageNames, certainties, cost } = messages.requests;
  return (
    <>
      <p className={classes.note}>{certainties[usageCertainty]}</p>
      <dl className={classes.facts}>
        {usageAmounts(usage, usageNames).map(({ name, amount }) => (
          <div key={name} className={classes.fact}>
            <dt>{name}</dt>
            <dd>{formats.number(amount)}</dd>
          </div>
        ))}
        <div className={classes.fact}>
          <dt>{cost}</dt>
          <dd>{formats.cost(costOf(request, usage !== null))}</dd>
        </div>
      </dl>
    </>
  );
}

/** What the translation to the provider's API dropped or emulated. */
function Losses({ request: { dropped, emulated } }: { request: RequestView }) {
  const { losses } = useLocalization().messages.requests;
  return (
    <>
      <Notes title={losses.dropped} notes={dropped} />
      <Notes title={losses.emulated} notes={emulated} />
    </>
  );
}

function Notes({ title, notes }: { title: string; notes: readonly LossNote[] }) {
  const { messages, formats } = useLocalization();
  const { losses } = messages.requests;
  if (notes.length === 0) return null;
  return (
    <>
      <p className={classes.note}>{title}</p>
      <ul className={classes.losses}>
        {notes.map(({ code, field, times }) => (
          <li key={`${code} ${field}`}>
            <span className={classes.mono}>{field}</span>
            {times > 1 && <span className={classes.mark}>{losses.times(formats.number(times))}</span>}
            <span className={classes.reason}>{losses.reasons[code]}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The session that a request belongs to, with its cost so far. */
function SessionLink({ id }: { id: string }) {
  const { messages, formats } = useLocalization();
  const { answer } = useQuery<'session'>({ type: 'session', id });
  const { ofRequest } = messages.sessions;
  const session = answer?.session;
  const cost = session && session.costUsd !== null ? formats.dollars(session.costUsd) : null;
  return <Link href={`/sessions/${id}`}>{session ? ofRequest(formats.number(session.requests), cost) : id}</Link>;
}
