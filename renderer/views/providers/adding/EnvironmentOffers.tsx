import { Button } from '@mantine/core';
import type { Preset } from '../../../../server/contract/preset.ts';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import classes from '../Providers.module.css';
import { draftOf, isComplete, type ProviderDraft } from './provider-draft.ts';

interface OfferActs {
  onTry(draft: ProviderDraft): void;
  /** Called if more input is needed first. */
  onPick(draft: ProviderDraft): void;
}

interface Offer {
  preset: Preset;
  variable: string;
}

/**
 * Credentials found in Sluice's environment, each of which is tested by one click, as a section of the screen: those of
 * services that have no provider yet. The window never receives their values.
 */
export function EnvironmentSection(acts: OfferActs) {
  const { environment: names } = useMessages().providers;
  const providers = useControlState((state) => state.views?.providers ?? null);
  const { answer: presets } = useQuery<'presets'>({ type: 'presets' });
  const offers = useOffers(presets ?? []).filter(({ preset }) => !providers?.some((each) => each.preset === preset.id));
  if (offers.length === 0) return null;
  return (
    <Section title={names.title}>
      <div className={classes.body}>
        <OfferList offers={offers} {...acts} />
      </div>
    </Section>
  );
}

/** One for each service whose credential is in the environment and not in use. */
export function useOffers(presets: readonly Preset[]): Offer[] {
  // Queried again after each change, because used credentials are no longer offered.
  const revision = useControlState((state) => state.views?.status.revision ?? 0);
  const { answer } = useQuery<'environment-credentials'>({ type: 'environment-credentials' }, revision);
  return (answer ?? []).flatMap(({ preset: id, variable }) => {
    const preset = presets.find((each) => each.id === id);
    return preset ? [{ preset, variable }] : [];
  });
}

export function OfferList({ offers, ...acts }: OfferActs & { offers: readonly Offer[] }) {
  const { environment: names } = useMessages().providers;
  return (
    <>
      <p className={classes.soft}>{names.hint}</p>
      <ul className={classes.offerList}>
        {offers.map((offer) => (
          <OfferRow key={offer.variable} offer={offer} {...acts} />
        ))}
      </ul>
    </>
  );
}

function OfferRow({ offer: { preset, variable }, onTry, onPick }: OfferActs & { offer: Offer }) {
  const { environment: names, add: addNames } = useMessages().providers;
  const name = addNames.presetNames[preset.id] ?? preset.name;
  const draft = { ...draftOf({ preset }), credential: { source: 'env' as const, value: variable } };
  const isAsking = !isComplete(draft);
  return (
    <li className={classes.offer}>
      <div className={classes.offerText}>
        <span className={classes.choiceName}>{name}</span>
        <span className={classes.mono}>{variable}</span>
      </div>
      <div className={classes.offerActs}>
        <Button
          size="xs"
          variant="default"
          aria-label={names.useNamed(variable, name)}
          onClick={() => (isAsking ? onPick(draft) : onTry(draft))}
        >
          {names.use}
        </Button>
        {!isAsking && (
          <Button
            size="xs"
            variant="default"
            aria-label={names.copyNamed(variable, name)}
            onClick={() => onTry({ ...draft, copiedVariable: variable })}
          >
            {names.copy}
          </Button>
        )}
      </div>
    </li>
  );
}
