import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LedgerHealthView, StatusView } from '../../../server/contract/status-views.ts';
import { CopyLine } from '../../components/CopyLine.tsx';
import { RelativeTime } from '../../components/RelativeTime.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/use-control.ts';
import classes from './StatusSection.module.css';

/** What the engine says of itself, and the one address that clients need. */
export function StatusSection() {
  const { status: messages, connection } = useMessages();
  const status = useControlState((state) => state.views?.status ?? null);
  return (
    <Section title={messages.title}>
      <div className={classes.body}>
        <div className={classes.address}>
          <p className={classes.label}>{messages.baseUrl}</p>
          {status ? (
            <CopyLine value={status.baseUrl ?? connection.notListening} what={messages.baseUrl} oneLine />
          ) : (
            <Skeleton height={34} />
          )}
        </div>
        <Facts status={status} />
      </div>
    </Section>
  );
}

function Facts({ status }: { status: StatusView | null }) {
  const { messages, formats } = useLocalization();
  const names = messages.status;
  const running = useControlState((state) => state.requests.filter(({ outcome }) => outcome === null).length);
  return (
    <dl className={classes.facts}>
      <Fact name={names.running}>{status && formats.number(running)}</Fact>
      <Fact name={names.started}>{status && <RelativeTime moment={status.startedAt} />}</Fact>
      <Fact name={names.version}>{status?.version}</Fact>
      <Fact name={names.revision}>
        {status && (status.readOnly ? messages.readOnly : names.revisionNumber(formats.number(status.revision)))}
      </Fact>
      <Fact name={names.ledger}>{status && <LedgerHealth ledger={status.ledger} />}</Fact>
      <Fact name={names.secrets}>{status && <SecretStore status={status} />}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd title={typeof children === 'string' ? children : undefined}>
        {children ?? <Skeleton height={16} width={90} />}
      </dd>
    </div>
  );
}

function SecretStore({ status: { secretStore, secretStoreKind } }: { status: StatusView }) {
  const { secretStores, secretsUnopened } = useMessages().status;
  if (secretStoreKind === null) return secretsUnopened;
  return <span title={secretStore ?? undefined}>{secretStores[secretStoreKind]}</span>;
}

function LedgerHealth({ ledger }: { ledger: LedgerHealthView }) {
  const { messages, formats } = useLocalization();
  const { ledgerOk, ledgerDropped, ledgerBroken } = messages.status;
  if (ledger.ok && ledger.dropped === 0) return ledgerOk;
  const text = ledger.ok ? ledgerDropped(ledger.dropped, formats.number(ledger.dropped)) : ledgerBroken;
  return (
    <span className={classes.bad} title={ledger.lastError ?? text}>
      {text}
    </span>
  );
}
