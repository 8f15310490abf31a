import { type CooldownView, failingModelsOf, type ProviderView } from '../../../server/contract/provider-views.ts';
import { CooldownNote } from '../../components/feedback/CooldownNote.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import type { Messages } from '../../messages/en/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { blockedReason, unlistedReason } from '../../state/providers/providers.ts';
import classes from './Providers.module.css';
import { hasRefusedCredential, type ProviderState, stateOf } from './provider-state.ts';
import { hasJustFailed, type ProviderActivity } from './use-provider-activity.ts';

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
  const parts = state === 'degraded' ? troubledParts(provider, messages.health.withoutModel) : [];
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

function troubledParts({ credentials, health }: ProviderView, withoutModel: string) {
  const unhealthy = credentials.filter((credential) => credential.enabled && credential.health.state !== 'ok');
  const parts: { name: string; health: CooldownView }[] = [
    ...unhealthy.map(({ id, label, health: ownHealth }) => ({ name: label ?? id, health: ownHealth })),
    ...health.models.map(({ model, ...modelHealth }) => ({ name: model ?? withoutModel, health: modelHealth })),
  ];
  return parts.slice(0, mostParts);
}

function describeModels(provider: ProviderView, names: Messages['providers'], formats: Formats): string {
  const { length } = provider.modelNames;
  if (length > 0) return names.modelCount(length, formats.number(length));
  return provider.takesAnyModel ? names.anyModel : names.noModels;
}
