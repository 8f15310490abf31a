import { Button } from '@mantine/core';
import type { Preset } from '../../../../server/contract/preset.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { placeholdersOf } from '../connection/base-url.ts';
import classes from '../Providers.module.css';
import type { Choice } from './provider-choice.ts';

interface OfferActs {
  onAdded(id: string): void;
  /** Called if more input is needed first. */
  onPick(choice: Choice): void;
}

interface Offer {
  preset: Preset;
  variable: string;
}

/**
 * Credentials found in Sluice's environment, each of which becomes a provider by one click. The window never receives
 * their values.
 */
export function EnvironmentOffers({ presets, ...acts }: OfferActs & { presets: readonly Preset[] }) {
  const { environment: names } = useMessages().providers;
  const offers = useOffers(presets);
  if (offers.length === 0) return null;
  return (
    <div className={classes.offers}>
      <h3 className={classes.offersTitle}>{names.title}</h3>
      <OfferList offers={offers} {...acts} />
    </div>
  );
}

/** The same as a section of the screen, for services that have no provider yet. */
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

function useOffers(presets: readonly Preset[]): Offer[] {
  // Queried again after each change, because used credentials are no longer offered.
  const revision = useControlState((state) => state.views?.status.revision ?? 0);
  const { answer } = useQuery<'environment-credentials'>({ type: 'environment-credentials' }, revision);
  return (answer ?? []).flatMap(({ preset: id, variable }) => {
    const preset = presets.find((each) => each.id === id);
    return preset ? [{ preset, variable }] : [];
  });
}

function OfferList({ offers, ...acts }: OfferActs & { offers: readonly Offer[] }) {
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

function OfferRow({ offer: { preset, variable }, onAdded, onPick }: OfferActs & { offer: Offer }) {
  const { environment: names, add: addNames } = useMessages().providers;
  const name = addNames.presetNames[preset.id] ?? preset.name;
  const command = useCommand();
  const isAsking = placeholdersOf(preset.baseUrl).length > 0;
  const add = async (credential: { reference: string } | { variable: string }) => {
    const { id, baseUrl } = preset;
    // Sent explicitly, so that the address used is the one shown.
    const provider = { preset: id, baseUrl };
    const result = await command.run({ type: 'provider.add', provider, credentials: [credential] });
    if (result) onAdded(result.provider.id);
  };
  const use = () => (isAsking ? onPick({ preset, variable }) : void add({ reference: `env:${variable}` }));
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
          loading={command.isRunning}
          aria-label={names.useNamed(variable, name)}
          onClick={use}
        >
          {names.use}
        </Button>
        {!isAsking && (
          <Button
            size="xs"
            variant="default"
            disabled={command.isRunning}
            aria-label={names.copyNamed(variable, name)}
            onClick={() => void add({ variable })}
          >
            {names.copy}
          </Button>
        )}
      </div>
      {command.problem && <CommandProblem problem={command.problem} />}
    </li>
  );
}
