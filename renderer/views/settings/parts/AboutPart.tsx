import { Button } from '@mantine/core';
import { IconStethoscope } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import type { LedgerHealthView, StatusView } from '../../../../server/contract/status-views.ts';
import { downloadJson } from '../../../components/buttons/download.ts';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { RelativeTime } from '../../../components/text/RelativeTime.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import type { ControlStore } from '../../../state/control/control-store.ts';
import { useControlState, useControlStore } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import classes from '../Settings.module.css';

/** Versions, the locations of files, and a report to send to someone who helps. */
export function AboutPart() {
  const { messages, formats } = useLocalization();
  const names = messages.settings;
  const status = useControlState((state) => state.views?.status ?? null);
  const { answer: host, problem } = useQuery({ type: 'host' });
  return (
    <Section title={names.parts.about}>
      <div className={classes.form}>
        <dl className={classes.facts}>
          <Fact name={names.version}>{status?.version ?? '…'}</Fact>
          <Fact name={messages.status.started}>{status ? <RelativeTime moment={status.startedAt} /> : '…'}</Fact>
          <Fact name={names.runsOn}>{host ? `Node ${host.node}, ${host.platform}` : '…'}</Fact>
          <Fact name={names.dataFolder}>
            {host?.dataFolder ? (
              <CopyLine value={host.dataFolder} label={names.dataFolder} />
            ) : host ? (
              names.dataNowhere
            ) : (
              '…'
            )}
          </Fact>
          {host?.logFolder && (
            <Fact name={names.logFolder}>
              <CopyLine value={host.logFolder} label={names.logFolder} />
            </Fact>
          )}
          <Fact name={names.secretStore}>{status ? (status.secretStore ?? messages.status.secretsUnopened) : '…'}</Fact>
          <Fact name={messages.status.ledger}>{status ? <LedgerHealth ledger={status.ledger} /> : '…'}</Fact>
          <Fact name={names.captured}>{status ? <Captured status={status} /> : '…'}</Fact>
          <Fact name={names.configuration}>
            {status &&
              (status.readOnly ? messages.readOnly : messages.status.revisionNumber(formats.number(status.revision)))}
          </Fact>
        </dl>
        {problem && <CommandProblem problem={problem} />}
        <Diagnostics />
      </div>
    </Section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function LedgerHealth({ ledger }: { ledger: LedgerHealthView }) {
  const { messages, formats } = useLocalization();
  const { ledgerOk, ledgerDropped, ledgerBroken, ledgerWaits } = messages.status;
  if (ledger.ok && ledger.dropped === 0) return ledgerOk;
  const broken = ledger.spooled > 0 ? ledgerWaits : ledgerBroken;
  const text = ledger.ok ? ledgerDropped(ledger.dropped, formats.number(ledger.dropped)) : broken;
  return <span title={ledger.lastError ?? text}>{text}</span>;
}

function Captured({ status: { ledger, settings } }: { status: StatusView }) {
  const { messages, formats } = useLocalization();
  return messages.settings.capturedOf(
    formats.bytes(ledger.capturedBytes ?? 0),
    formats.bytes(settings.capture.totalBytes),
  );
}

function Diagnostics() {
  const { messages } = useLocalization();
  const store = useControlStore();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const make = async () => {
    setRunning(true);
    setProblem(null);
    try {
      downloadJson('sluice-diagnostics.json', await collectDiagnostics(store));
    } catch (error) {
      setProblem(asControlError(error));
    }
    setRunning(false);
  };
  return (
    <>
      <p className={classes.text}>{messages.settings.diagnosticsHint}</p>
      <div className={classes.acts}>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconStethoscope size={14} />}
          loading={isRunning}
          onClick={() => void make()}
        >
          {messages.settings.diagnostics}
        </Button>
      </div>
      {problem && <CommandProblem problem={problem} />}
    </>
  );
}

const reportedErrors = 50;
/** Fields that describe a failure but do not identify anyone. */
const errorFields = [
  ...['id', 'startedAt', 'route', 'capability', 'modelAsked', 'modelServed', 'provider', 'stream', 'client'],
  ...['outcome', 'status', 'errorCode', 'firstByteMs', 'totalMs', 'attempts'],
] as (keyof RequestView)[];

/**
 * Collects what someone who helps needs to know: versions, state, configuration and the latest errors. Views contain no
 * secrets, so neither does the report.
 */
async function collectDiagnostics({ query }: ControlStore): Promise<object> {
  const latest = (outcome: 'failed' | 'refused') =>
    query({ type: 'requests', filter: { outcome }, limit: reportedErrors });
  const [status, host, { revision, config }, failed, refused] = await Promise.all([
    query({ type: 'status' }),
    query({ type: 'host' }),
    query({ type: 'config' }),
    latest('failed'),
    latest('refused'),
  ]);
  const reported = ({ requests }: typeof failed) =>
    requests.map((request) => Object.fromEntries(errorFields.map((name) => [name, request[name]])));
  return {
    madeAt: new Date().toISOString(),
    browser: navigator.userAgent,
    host,
    status,
    config: { revision, ...config },
    lastErrors: reported(failed),
    lastRefusals: reported(refused),
  };
}
