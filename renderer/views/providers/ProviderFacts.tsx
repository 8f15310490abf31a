import { Button } from '@mantine/core';
import { IconRestore } from '@tabler/icons-react';
import { Link } from 'wouter';
import { type CooldownView, failingModelsOf, type ProviderView } from '../../../server/contract/provider-views.ts';
import { CooldownNote } from '../../components/feedback/CooldownNote.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import type { Messages } from '../../messages/en/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { blockedReason, credentialNameOf, unlistedReason } from '../../state/providers/providers.ts';
import { failureWordsOf } from '../../state/requests/failures.ts';
import classes from './Providers.module.css';
import {
  hasJustFailed,
  hasRefusedCredential,
  type ProviderActivity,
  type ProviderState,
  stateOf,
} from './provider-state.ts';

const dots: Record<ProviderState['kind'], string | undefined> = {
  off: undefined,
  'no-credential': classes.dotBad,
  blocked: classes.dotBad,
  refused: classes.dotBad,
  cooling: classes.dotBad,
  degraded: classes.dotWarning,
  failing: classes.dotWarning,
  unlisted: classes.dotWarning,
  waiting: undefined,
  ready: classes.dotGood,
};

interface ProviderFactsProps {
  provider: ProviderView;
  /** Null if there were no requests; undefined while unknown. */
  activity: ProviderActivity | null | undefined;
}

/** The state of a provider, the number and age of its models, and the reasons for any trouble. */
export function ProviderFacts({ provider, activity }: ProviderFactsProps) {
  const { messages, formats } = useLocalization();
  const names = messages.providers;
  const state = stateOf(provider, hasJustFailed(activity));
  const refreshedAt = provider.discovery?.refreshedAt ?? null;
  const credentials = provider.credentials.length;
  const dot = hasRefusedCredential(provider) ? classes.dotBad : dots[state.kind];
  return (
    <div>
      <p className={classes.facts}>
        <span className={`${classes.dot} ${dot ?? ''}`} aria-hidden />
        {describeState(provider, state, messages, formats)}
        {refreshedAt !== null && ' · '}
        {refreshedAt !== null && <RelativeTime moment={refreshedAt} phrase={names.asked} />}
        {provider.health.firstByteMs !== null &&
          ` · ${messages.health.firstByte(formats.duration(provider.health.firstByteMs))}`}
        {credentials > 1 && ` · ${names.credentialCount(formats.number(credentials))}`}
      </p>
      {state.kind === 'blocked' && <p className={classes.warning}>{blockedReason(provider, names.blocked)}</p>}
      {state.kind === 'unlisted' && (
        <p className={classes.warning}>{unlistedReason(state.discovery, messages.probe)}</p>
      )}
      {provider.enabled && <HealthNotes provider={provider} />}
    </div>
  );
}

/** Its state and its number of models. */
function describeState(provider: ProviderView, state: ProviderState, messages: Messages, formats: Formats): string {
  const { providers: names, health } = messages;
  const failing = state.kind === 'degraded' ? failingModelsOf(provider) : null;
  if (!failing) return `${names.states[state.kind]} · ${describeModels(provider, names, formats)}`;
  const models = failing.models.map((model) => model ?? health.withoutModel);
  const total = failing.total === null ? null : formats.number(failing.total);
  return names.failingModels(formats.number(models.length), total, formats.list(models));
}

/** The failures of the provider as a whole, or otherwise of some of its credentials and models. */
function HealthNotes({ provider }: { provider: ProviderView }) {
  const { messages, formats } = useLocalization();
  const { state, failure, errorRate } = provider.health;
  if (state === 'ok') return null;
  const parts = state === 'degraded' ? troubledParts(provider, messages) : [];
  if (parts.length > 0)
    return parts.map((part) => (
      <CooldownNote key={part.name} name={part.name} health={part.health} className={classes.warning} />
    ));
  if (failure !== null) return <CooldownNote health={provider.health} className={classes.warning} />;
  return errorRate === null ? null : (
    <p className={classes.warning}>{messages.health.failing(formats.percent(errorRate))}</p>
  );
}

const mostParts = 3;

function troubledParts({ credentials, health }: ProviderView, { providers, health: { withoutModel } }: Messages) {
  const unhealthy = credentials.filter((credential) => credential.enabled && credential.health.state !== 'ok');
  const parts: { name: string; health: CooldownView }[] = [
    ...unhealthy.map(({ id, health: ownHealth }) => ({
      name: credentialNameOf(credentials, id, providers.credential),
      health: ownHealth,
    })),
    ...health.models.map(({ model, ...modelHealth }) => ({ name: model ?? withoutModel, health: modelHealth })),
  ];
  return parts.slice(0, mostParts);
}

function describeModels(provider: ProviderView, names: Messages['providers'], formats: Formats): string {
  const { length } = provider.modelNames;
  if (length > 0) return names.modelCount(length, formats.number(length));
  return provider.takesAnyModel ? names.anyModel : names.noModels;
}

interface ActivityBarProps {
  id: string;
  name: string;
  /** Null if there were no requests; undefined while unknown, in which case nothing is stated. */
  activity: ProviderActivity | null | undefined;
}

/** Requests to a provider in the last 24 hours: a bar per hour, the cost, and the last error. */
export function ActivityBar({ id, name, activity }: ActivityBarProps) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.activity;
  if (activity === undefined) return <p className={classes.quiet}>…</p>;
  if (activity === null || activity.requests === 0) return <p className={classes.quiet}>{names.none}</p>;
  const { requests, failed, costUsd } = activity;
  const summary = names.summary(names.requests(requests, formats.number(requests)), formats.percent(failed / requests));
  return (
    <div className={classes.activity}>
      <div className={classes.bars} role="img" aria-label={messages.labelled(names.title, summary)}>
        {activity.hours.map((hour) => (
          <span
            key={hour.startMs}
            className={classes.bar}
            data-share={shareOf(hour)}
            title={names.hour(
              formats.clock(hour.startMs),
              names.requests(hour.requests, formats.number(hour.requests)),
              formats.number(hour.failed),
            )}
          />
        ))}
      </div>
      <p className={classes.quiet}>
        {summary}
        {costUsd !== null && ` · ${names.spend(formats.dollars(costUsd))}`}
        {' · '}
        <Link href={`/requests?provider=${encodeURIComponent(id)}`} aria-label={names.openNamed(name)}>
          {names.open}
        </Link>
      </p>
      {failed > 0 && <LastError id={id} count={failed} />}
    </div>
  );
}

/** In the provider's own words, if it sent any. */
function LastError({ id, count }: { id: string; count: number }) {
  const { messages, formats } = useLocalization();
  const { answer } = useQuery<'requests'>(
    { type: 'requests', filter: { provider: id, outcome: 'failed' }, limit: 1 },
    count,
  );
  const request = answer?.requests[0];
  if (!request) return null;
  const failed = request.attempts.findLast((attempt) => attempt.provider === id && attempt.error !== null);
  return (
    <p className={classes.error}>
      <RelativeTime moment={request.startedAt} phrase={messages.providers.activity.lastError} />
      {formats.gap}
      <Link href={`/requests/${request.id}`}>
        {failed?.error
          ? describeError(failed.error, messages)
          : [request.status, request.errorCode].filter(Boolean).join(' ')}
      </Link>
    </p>
  );
}

function describeError(error: string, { inspector, providers }: Messages): string {
  const { by, status, words } = failureWordsOf(error);
  if (status !== null) return providers.activity.answered(status, words);
  return by === 'connection' ? inspector.connectionError(words) : words;
}

/** Grades an hour by its share of failures. */
function shareOf({ requests, failed }: ProviderActivity['hours'][number]): 'none' | 'good' | 'some' | 'bad' {
  if (requests === 0) return 'none';
  if (failed === 0) return 'good';
  return failed / requests < 0.5 ? 'some' : 'bad';
}

/** Ends the cooldowns of a provider so that it is called again at once. Renders nothing if it is off or healthy. */
export function ResetHealth({ provider }: { provider: ProviderView }) {
  const { health: names } = useMessages();
  const command = useCommand();
  const { id, name, enabled, health } = provider;
  if (!enabled || health.state === 'ok') return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconRestore size={14} />}
      aria-label={names.resetNamed(name)}
      loading={command.isRunning}
      onClick={() => void command.run({ type: 'provider.reset-health', id })}
    >
      {names.reset}
    </Button>
  );
}
