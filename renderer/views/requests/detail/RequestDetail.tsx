import { Tabs } from '@mantine/core';
import { IconAlertTriangle, IconBolt, IconChevronRight, IconLifebuoy } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { RouteRefusal } from '../../../../server/contract/access-views.ts';
import { countsAsFailed, isRefused, verdictOf } from '../../../../server/contract/count.ts';
import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import type { RequestInFull, RequestView } from '../../../../server/contract/request-views.ts';
import { loadCodeView } from '../../../components/body/BodyView.tsx';
import { ProviderLinks } from '../../../components/feedback/Condition.tsx';
import { RecentNote } from '../../../components/recent/RecentNote.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useKey } from '../../../state/control/use-found.ts';
import { modelRouteVersion, useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { explainFailure, fixOfRequest } from '../../../state/requests/failures.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { CaptureAbsent, ConversationTab, MessageTab } from '../body/BodyTabs.tsx';
import { Attempts, FailureWords } from '../facts/Attempts.tsx';
import { Summary } from '../facts/Summary.tsx';
import { Timeline } from '../facts/Timeline.tsx';
import classes from './RequestPanel.module.css';

/** The failure first, then everything known about the request, in tabs. */
export function RequestDetail({ full }: { full: RequestInFull }) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const attempts = full.request.attempts.length;
  const hasBodies = full.capture !== null;
  const [tab, choose] = useTab(hasBodies);
  useEffect(() => {
    // If this fails, the code view is fetched with the first body.
    if (hasBodies) loadCodeView().catch(() => {});
  }, [hasBodies]);
  const isTab = (value: string | null): value is TabName => tabNames.some((name) => name === value);
  return (
    <div className={classes.detail}>
      <FailureNote request={full.request} />
      <Tabs value={tab} onChange={(value) => isTab(value) && choose(value)} keepMounted={false}>
        <Tabs.List className={classes.tabs}>
          {tabNames.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {names.tabs[name]}
              {name === 'attempts' && attempts > 1 && (
                <span className={classes.count}> {formats.number(attempts)}</span>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className={classes.tabPanel}>
          {full.isRecent && tab !== 'summary' && tab !== 'timeline' && <RecentNote />}
          <TabContent tab={tab} full={full} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function TabContent({ tab, full }: { tab: TabName; full: RequestInFull }): ReactNode {
  const { inspector: names } = useLocalization().messages;
  const { request, capture, captureAbsence } = full;
  if (tab === 'summary') return <Summary request={full.request} />;
  if (tab === 'timeline') return <Timeline full={full} />;
  if (tab === 'attempts') {
    return (
      <>
        <Attempts attempts={request.attempts} captured={capture?.attempts ?? []} />
        {!capture && <CaptureAbsent request={request} absence={captureAbsence} />}
      </>
    );
  }
  if (!capture) return <CaptureAbsent request={request} absence={captureAbsence} />;
  if (tab === 'conversation') return <ConversationTab capture={capture} />;
  if (tab === 'request') {
    const { method, url } = capture.request;
    return (
      <MessageTab
        message={capture.request}
        names={{ headers: names.requestHeaders, body: names.requestBody }}
        line={url && `${method} ${url}`}
      />
    );
  }
  const { status } = capture.response;
  return (
    <MessageTab
      message={capture.response}
      names={{ headers: names.responseHeaders, body: names.responseBody }}
      line={status === null ? null : String(status)}
    />
  );
}

/**
 * Why a request failed, in the provider's words if it was called, and what can be done. For a rescued request, the
 * attempts that failed before one succeeded.
 */
function FailureNote({ request }: { request: RequestView }) {
  const { attempts, fault } = request;
  const verdict = verdictOf(request);
  if (fault !== null) return <FaultNote fault={fault} />;
  if (verdict === 'ok' && attempts.some(({ failure }) => failure !== null)) return <RescuedNote request={request} />;
  return verdict === 'refused' || countsAsFailed(verdict) ? <Failed request={request} /> : null;
}

function FaultNote({ fault }: { fault: string }) {
  const { faults: names } = useLocalization().messages;
  return (
    <div className={classes.failure} role="note">
      <IconBolt className={classes.failureIcon} size={18} aria-hidden />
      <div className={classes.failureText}>
        <p className={classes.failureTitle}>{names.met(fault)}</p>
        <p>{names.metText}</p>
      </div>
    </div>
  );
}

function Failed({ request }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const { requests: names, inspector, models } = messages;
  const limits = useKey(request.keyId)?.limits ?? null;
  const providerName = useProviderName();
  const { mayOpen } = useRights();
  const fix = fixOfRequest(request, limits !== null);
  const unknown = useUnknownModel(request, fix?.kind === 'route' && mayOpen(fix.href));
  const unlisted = unknown?.unlisted ?? [];
  const explanation =
    unlisted.length > 0
      ? models.refusals.models_unknown(formats.list(unlisted.map(providerName)))
      : explainFailure(request, names.errors);
  const { status } = request;
  const failed = shownFailureOf(request);
  const isCut = request.outcome === 'stream-broken';
  const refusedWith = isRefused(request) ? status : null;
  const ownTitle =
    refusedWith === null
      ? inspector.sluiceSaid(status === null ? null : String(status))
      : inspector.refused(refusedWith);
  // An answer that was cut off or contains an error has a success status, which would not help here.
  const failureTitle = ({ provider, status }: AttemptRecord) => {
    if (isCut) return inspector.cutOff(providerName(provider));
    const isInAnswer = status !== null && status < 400;
    return isInAnswer
      ? inspector.answerFailed(providerName(provider))
      : inspector.providerSaid(providerName(provider), status);
  };
  const advice = failed?.failure && inspector.whatToDo[isCut ? 'stream-broken' : failed.failure];
  return (
    <div className={`${classes.failure} ${refusedWith === null ? '' : classes.refused}`} role="note">
      <IconAlertTriangle className={classes.failureIcon} size={18} aria-hidden />
      <div className={classes.failureText}>
        <p className={classes.failureTitle}>
          {failed ? failureTitle(failed) : ownTitle}
          {request.errorCode && <span className={classes.code}>{request.errorCode}</span>}
        </p>
        {failed?.error && <FailureWords error={failed.error} className={classes.words} />}
        {advice ? <p>{advice}</p> : explanation && <p>{explanation}</p>}
        {unknown?.nearest && <p>{models.refusals.nearest(unknown.nearest)}</p>}
        <ProviderLinks ids={unlisted} />
        {fix && mayOpen(fix.href) && (
          <Link className={classes.fix} href={fix.href}>
            {names.fixes[fix.kind]}
            <IconChevronRight size={16} aria-hidden />
          </Link>
        )}
      </div>
    </div>
  );
}

/** What the route preview says of the unknown model that the client asked for; null if it is known by now, or if `isAsked` is false. */
function useUnknownModel({ keyId, modelAsked }: RequestView, isAsked: boolean): RouteRefusal | null {
  const version = useControlState(modelRouteVersion);
  const query =
    isAsked && keyId !== null && modelAsked !== null
      ? ({ type: 'route', key: keyId, model: modelAsked } as const)
      : null;
  const { answer } = useQuery<'route'>(query, version);
  return (query && answer?.refusal) ?? null;
}

/** If several attempts failed, the client receives the most informative failure, which need not be the last. */
function shownFailureOf({ attempts, status }: RequestView) {
  const failed = attempts.filter(({ failure, error }) => failure !== null || error !== null);
  return failed.findLast((attempt) => attempt.status === status) ?? failed.at(-1);
}

function RescuedNote({ request: { attempts, provider } }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const providerName = useProviderName();
  const failures = attempts.filter(({ failure }) => failure !== null).length;
  return (
    <div className={classes.rescued} role="note">
      <IconLifebuoy size={18} aria-hidden />
      <p>
        {messages.inspector.rescued(
          failures,
          formats.number(failures),
          provider === null ? null : providerName(provider),
        )}
      </p>
    </div>
  );
}

const tabNames = ['conversation', 'summary', 'request', 'response', 'attempts', 'timeline'] as const;
type TabName = (typeof tabNames)[number];

/** The tab that was chosen last; null until one has been. */
let chosenTab: TabName | null = null;

/**
 * The current tab. It is part of the address, `?tab=request`; an address without one gets the tab that was chosen last, and
 * before that the most telling one: what was said, if that was captured.
 */
export function useTab(isCaptured: boolean): [tab: TabName, choose: (tab: TabName) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const fromAddress = tabNames.find((name) => name === new URLSearchParams(search).get('tab'));
  const tab = fromAddress ?? chosenTab ?? (isCaptured ? 'conversation' : 'summary');
  const address = addressOf(path, search, tab);
  useEffect(() => {
    if (fromAddress !== undefined) chosenTab = fromAddress;
    else if (chosenTab !== null) navigate(address, { replace: true });
  }, [fromAddress, address, navigate]);
  return [tab, (chosen) => navigate(addressOf(path, search, chosen), { replace: true })];
}

function addressOf(path: string, search: string, tab: TabName): string {
  const parameters = new URLSearchParams(search);
  parameters.set('tab', tab);
  return `${path}?${parameters}`;
}
