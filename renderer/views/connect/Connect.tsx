/**
 * Guides a person to their first request from each client. Treats the guides as data, and calls the gateway only as a
 * client would.
 */
import { type RefObject, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { baseUrlOf, isLoopback } from '../../../server/contract/address.ts';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import { nearestName } from '../../../server/contract/nearest-name.ts';
import { GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { type KeyChoice, useKeyChoice } from '../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../state/choices/use-model-choice.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { ApplyPanel } from './ApplyPanel.tsx';
import { ChoiceBar } from './ChoiceBar.tsx';
import { ClientList } from './ClientList.tsx';
import { ClientSteps, type CopiedKey } from './ClientSteps.tsx';
import classes from './Connect.module.css';

const keyPlaceholder = 'YOUR_KEY';
const modelPlaceholder = 'MODEL';

export function Connect() {
  const { connect: messages } = useMessages();
  const baseUrl = useControlState(addressOf);
  const keyChoice = useKeyChoice();
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const fromLedger = useQuery<'clients'>({ type: 'clients' }).answer ?? [];
  const { isAdmin } = useRights();
  const isInDesktop = useDesktop() !== null;
  // The files that Sluice writes are those of its own machine: no browser elsewhere is offered that.
  const isOnGatewaysMachine = isInDesktop || isLoopback(window.location.hostname);
  const configurable = useQuery<'connect-clients'>(isAdmin && isOnGatewaysMachine ? { type: 'connect-clients' } : null);
  const [path] = useLocation();
  const [, , asked = clientGuides[0]?.id ?? ''] = path.split('/');
  const guide = clientGuides.find(({ id }) => id === asked);
  const view = configurable.answer?.find(({ client }) => client === guide?.id);
  const connection = {
    baseUrl,
    key: keyChoice.secret ?? keyPlaceholder,
    model: models.model || modelPlaceholder,
  };
  const copied = useCopiedKey(keyChoice);
  const top = useTopOf(guide?.id ?? null);
  return (
    <Screen name="connect">
      <p className={classes.lead}>{messages.lead}</p>
      <ChoiceBar keyChoice={keyChoice} models={models} baseUrl={connection.baseUrl} />
      <div className={classes.columns}>
        <ClientList chosenId={guide?.id ?? null} fromLedger={fromLedger} />
        {!guide && <NoClient asked={asked} />}
        {guide && (
          <div className={classes.guide} key={guide.id} ref={top}>
            {view && (
              <ApplyPanel
                view={view}
                connection={{ ...connection, model: models.model }}
                keyChoice={keyChoice}
                copied={copied}
                onChanged={configurable.refetch}
              />
            )}
            <ClientSteps
              guide={guide}
              connection={connection}
              model={models.model}
              terminalKey={isAdmin && isOnGatewaysMachine && keyChoice.key?.canReveal ? keyChoice.key.id : null}
              copied={copied}
              clientKey={keyChoice.key}
              fromLedger={fromLedger}
            />
          </div>
        )}
      </div>
    </Screen>
  );
}

/** Instead of the steps, with the client that is probably meant. */
function NoClient({ asked }: { asked: string }) {
  const { noPage: names } = useMessages();
  const nearest = nearestName(
    asked,
    clientGuides.map(({ id }) => id),
  );
  const meant = clientGuides.find(({ id }) => id === nearest);
  return (
    <GoneNote text={names.client(asked)}>
      {meant && <Link href={`/connect/${meant.id}`}>{names.meant(meant.name)}</Link>}
    </GoneNote>
  );
}

function useCopiedKey({ key, peek }: KeyChoice): CopiedKey {
  const { connect: messages } = useMessages();
  return {
    async into(text) {
      if (!text.includes(keyPlaceholder)) return text;
      const { secret } = await peek();
      // Whoever entered the key elsewhere puts it in there too.
      return secret === null ? text : text.replaceAll(keyPlaceholder, secret);
    },
    noteOn(text) {
      if (!text.includes(keyPlaceholder)) return null;
      return key?.canReveal ? messages.keyIsCopied(keyPlaceholder) : messages.keyIsYours(keyPlaceholder);
    },
  };
}

/** The steps of a client begin in sight, wherever in the list it was chosen. */
function useTopOf(guide: string | null): RefObject<HTMLDivElement | null> {
  const top = useRef<HTMLDivElement>(null);
  const shown = useRef(guide);
  useEffect(() => {
    if (shown.current !== guide && top.current && top.current.getBoundingClientRect().top < 0) {
      top.current.scrollIntoView({ block: 'start' });
    }
    shown.current = guide;
  }, [guide]);
  return top;
}

function addressOf({ views }: ControlState): string {
  return views ? baseUrlOf(views.status) : '';
}
