import { Button } from '@mantine/core';
import { IconRestore } from '@tabler/icons-react';
import { Link } from 'wouter';
import { conditionFacts, describeCondition, type Tone, toneOf } from '../../../server/contract/provider-condition.ts';
import type { CooldownView, ProviderView } from '../../../server/contract/provider-views.ts';
import { ConditionDot, CooldownNote } from '../../components/feedback/Condition.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import type { Messages } from '../../messages/en/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { credentialNameOf, describeWhy, useConditionTime } from '../../state/providers/providers.ts';
import { failureWordsOf } from '../../state/requests/failures.ts';
import { useNow } from '../../state/window/use-now.ts';
import classes from './Providers.module.css';
import type { ProviderActivity } from './provider-state.ts';

/** The condition of a provider, the number and age of its models, and the reasons for any trouble. */
export function ProviderFacts({ provider }: { provider: ProviderView }) {
  const localization = useLocalization();
  const { messages, formats } = localization;
  const names = messages.providers;
  const facts = conditionFacts(provider, useConditionTime());
  const { condition } = facts;
  const refreshedAt = provider.discovery?.refreshedAt ?? null;
  const credentials = provider.credentials.length;
  return (
    <div>
      <p className={classes.facts}>
        <ConditionDot condition={condition} />
        {describeCondition(facts, messages.health, formats)}
        {facts.failing === null && ` · ${describeModels(provider, names, formats)}`}
        {refreshedAt !== null && ' · '}
        {refreshedAt !== null && <RelativeTime moment={refreshedAt} phrase={names.asked} />}
        {provider.health.firstByteMs !== null &&
          ` · ${messages.health.firstByte(formats.duration(provider.health.firstByteMs))}`}
        {credentials > 1 && ` · ${names.credentialCount(formats.number(credentials))}`}
      </p>
      {condition === 'degraded' ? (
        <FailingParts provider={provider} />
      ) : (
        <Why provider={provider} tone={toneOf[condition]} />
      )}
    </div>
  );
}

function Why({ provider, tone }: { provider: ProviderView; tone: Tone }) {
  const localization = useLocalization();
  const why = useNow((now) => describeWhy(provider, localization, now));
  if (why === '') return null;
  return (
    <p className={classes.warning} data-tone={tone}>
      {why}
    </p>
  );
}

/** The failures of some of its credentials and models. */
function FailingParts({ provider }: { provider: ProviderView }) {
  const { messages, formats } = useLocalization();
  const { errorRate } = provider.health;
  const parts = troubledParts(provider, messages);
  const left = parts.length - mostParts;
  if (parts.length > 0)
    return (
      <>
        {parts.slice(0, mostParts).map((part) => (
          <CooldownNote key={part.name} name={part.name} health={part.health} className={classes.warning} />
        ))}
        {left > 0 && <p className={classes.warning}>{messages.health.more(formats.number(left))}</p>}
      </>
    );
  return errorRate === null ? null : (
    <p className={classes.warning}>{messages.health.failing(formats.percent(errorRate))}</p>
  );
}

const mostParts = 2;

/** A credential that fails for some models is told by these. */
function troubledParts({ credentials, health }: ProviderView, { providers, health: { withoutModel } }: Messages) {
  const unhealthy = credentials.filter(({ enabled, health: { failure } }) => {
    const isItsOwn = failure === 'credential' || failure === 'quota';
    return enabled && (isItsOwn || (failure !== null && health.models.length === 0));
  });
  const parts: { name: string; health: CooldownView }[] = [
    ...unhealthy.map(({ id, health: ownHealth }) => ({
      name: credentialNameOf(credentials, id, providers.credential),
      health: ownHealth,
    })),
    ...health.models.map(({ model, ...modelHealth }) => ({ name: model ?? withoutModel, health: modelHealth })),
  ];
  return parts;
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
