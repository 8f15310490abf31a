import { IconAlertTriangle, IconBolt, IconChevronRight, IconLifebuoy } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { AttemptRecord } from '../../../../server/contract/ledger.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useKey } from '../../../state/control/use-found.ts';
import { modelRouteVersion, useQuery } from '../../../state/control/use-query.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import { explainFailure, fixOfRequest } from '../../../state/requests/failures.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import { FailureWords } from '../facts/FailureWords.tsx';
import classes from './RequestPanel.module.css';

/**
 * Why a request failed, in the provider's words if it was called, and what can be done. For a rescued request, the
 * attempts that failed before one succeeded.
 */
export function FailureNote({ request }: { request: RequestView }) {
  const { outcome, attempts, fault } = request;
  if (fault !== null) return <FaultNote fault={fault} />;
  if (outcome === 'ok' && attempts.some(({ failure }) => failure !== null)) return <RescuedNote request={request} />;
  if (outcome !== 'error' && outcome !== 'stream-broken' && outcome !== 'interrupted') return null;
  return <Failed request={request} />;
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
  const { requests: names, inspector, models } = useLocalization().messages;
  const limits = useKey(request.keyId)?.limits ?? null;
  const providerName = useProviderName();
  const { mayOpen } = useRights();
  const fix = fixOfRequest(request, limits !== null);
  const explanation = explainFailure(request, names.errors);
  const nearest = useNearestModel(request, fix?.kind === 'route' && mayOpen(fix.href));
  const { status } = request;
  const failed = shownFailureOf(request);
  const isCut = request.outcome === 'stream-broken';
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
    <div className={classes.failure} role="note">
      <IconAlertTriangle className={classes.failureIcon} size={18} aria-hidden />
      <div className={classes.failureText}>
        <p className={classes.failureTitle}>
          {failed ? failureTitle(failed) : inspector.sluiceSaid(status === null ? null : String(status))}
          {request.errorCode && <span className={classes.code}>{request.errorCode}</span>}
        </p>
        {failed?.error && <FailureWords error={failed.error} className={classes.words} />}
        {advice ? <p>{advice}</p> : explanation && <p>{explanation}</p>}
        {nearest !== null && <p>{models.refusals.nearest(nearest)}</p>}
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

/** The model that the client may have meant, as the route preview names it; null if there is none, or if `isAsked` is false. */
function useNearestModel({ keyId, modelAsked }: RequestView, isAsked: boolean): string | null {
  const version = useControlState(modelRouteVersion);
  const query =
    isAsked && keyId !== null && modelAsked !== null
      ? ({ type: 'route', key: keyId, model: modelAsked } as const)
      : null;
  const { answer } = useQuery<'route'>(query, version);
  return (query && answer?.refusal?.nearest) ?? null;
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
