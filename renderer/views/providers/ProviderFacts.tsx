import type { ProviderView } from '../../../server/contract/views.ts';
import { RelativeTime } from '../../components/RelativeTime.tsx';
import type { Messages } from '../../messages/en.ts';
import type { Formats } from '../../messages/formats.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Providers.module.css';
import { type ProviderState, stateOf } from './provider-state.ts';

const dots: Record<ProviderState['kind'], string | undefined> = {
  off: undefined,
  'no-credential': classes.dotBad,
  blocked: classes.dotBad,
  unlisted: classes.dotWarning,
  waiting: undefined,
  ready: classes.dotGood,
};

/** How a provider does: its state, its models and how fresh they are, and why not if so. */
export function ProviderFacts({ provider }: { provider: ProviderView }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers;
  const state = stateOf(provider);
  const refreshedAt = provider.discovery?.refreshedAt ?? null;
  const credentials = provider.credentials.length;
  return (
    <div>
      <p className={classes.facts}>
        <span className={`${classes.dot} ${dots[state.kind] ?? ''}`} aria-hidden />
        {names.states[state.kind]} · {describeModels(provider, names, formats)}
        {refreshedAt !== null && ' · '}
        {refreshedAt !== null && <RelativeTime moment={refreshedAt} phrase={names.asked} />}
        {credentials > 1 && ` · ${names.credentialCount(formats.number(credentials))}`}
      </p>
      {'reason' in state && <p className={classes.warning}>{state.reason}</p>}
    </div>
  );
}

function describeModels(provider: ProviderView, names: Messages['providers'], formats: Formats): string {
  const { length } = provider.modelNames;
  if (length > 0) return names.modelCount(length, formats.number(length));
  return provider.takesAnyModel ? names.anyModel : names.noModels;
}
