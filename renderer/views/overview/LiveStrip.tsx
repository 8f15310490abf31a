import { Skeleton } from '@mantine/core';
import { type ReactNode, useCallback, useMemo } from 'react';
import { Link } from 'wouter';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { loadSpentToday } from '../../components/usage/load-usage.ts';
import { requestsAddress } from '../../components/usage/requests-address.ts';
import { useNames } from '../../components/usage/use-names.ts';
import { nothing } from '../../messages/formats.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery } from '../../state/control/use-query.ts';
import { useNow } from '../../state/window/use-now.ts';
import classes from './LiveStrip.module.css';
import { callersOf, tokensPerSecond } from './live-figures.ts';

const mostCallers = 3;

/** The address of Sluice, and its current activity. */
export function LiveStrip() {
  const { messages, formats } = useLocalization();
  const { live: names, status: statusNames, connection } = messages;
  const status = useControlState((state) => state.views?.status ?? null);
  const requests = useControlState((state) => state.requests);
  const isOpen = useControlState((state) => state.connection === 'open');
  const second = useNow((now) => Math.floor(now / 1_000) * 1_000);
  const running = requests.filter(({ outcome }) => outcome === null).length;
  return (
    <section className={classes.strip} aria-label={names.title}>
      <Fact name={statusNames.baseUrl}>
        {!status && <Skeleton height={34} />}
        {status?.baseUrl && <CopyLine value={status.baseUrl} label={statusNames.baseUrl} oneLine />}
        {status?.baseUrl === null && <span>{connection.notListening}</span>}
      </Fact>
      <Fact name={names.running}>
        <Link className={classes.figure} href={requestsAddress({ outcome: 'running' })}>
          {isOpen ? formats.number(running) : nothing}
        </Link>
      </Fact>
      <Fact name={names.tokens} hint={names.tokensHint}>
        <span className={classes.figure}>{isOpen ? formats.compact(tokensPerSecond(requests, second)) : nothing}</span>
      </Fact>
      <Fact name={names.today}>
        <SpentToday />
      </Fact>
      <Fact name={names.callers}>{isOpen ? <Callers second={second} /> : <span>{nothing}</span>}</Fact>
    </section>
  );
}

function Fact({ name, hint, children }: { name: string; hint?: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <div className={classes.name} title={hint}>
        {name}
      </div>
      {children}
    </div>
  );
}

function SpentToday() {
  const { formats } = useLocalization();
  const { query } = useControlStore();
  const { answer, problem } = useLiveQuery(useCallback(() => loadSpentToday(query, Date.now()), [query]));
  if (!answer) return problem ? <span className={classes.figure}>{nothing}</span> : <Skeleton height={20} width={56} />;
  const { usd, sinceMs } = answer;
  return (
    <Link className={classes.figure} href={requestsAddress({ since: sinceMs })}>
      {formats.cost(usd ?? 'unknown')}
    </Link>
  );
}

function Callers({ second }: { second: number }) {
  const { messages, formats } = useLocalization();
  const { live: names } = messages;
  const requests = useControlState((state) => state.requests);
  const callers = useMemo(() => callersOf(requests, second), [requests, second]);
  const nameOf = useNames(
    'key',
    callers.map(({ keyId }) => keyId),
  );
  if (callers.length === 0) return <span className={classes.soft}>{names.nobody}</span>;
  const more = callers.length - mostCallers;
  return (
    <span className={classes.callers}>
      {callers.slice(0, mostCallers).map(({ keyId, running }) => (
        <Link key={keyId} className={classes.caller} href={requestsAddress({ key: keyId })}>
          <span className={classes.callerName}>{nameOf(keyId)}</span>
          {running > 0 && <span className={classes.running}>{formats.number(running)}</span>}
        </Link>
      ))}
      {more > 0 && <span className={classes.soft}>{names.more(formats.number(more))}</span>}
    </span>
  );
}
