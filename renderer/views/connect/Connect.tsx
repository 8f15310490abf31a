/**
 * Guides a person to their first request from each client. Treats the guides as data, and calls the gateway only as a
 * client would.
 */

import { Button, NativeSelect } from '@mantine/core';
import { IconCircleCheckFilled, IconEye, IconEyeOff, IconPlugConnected } from '@tabler/icons-react';
import { type RefObject, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { baseUrlOf, isLoopback } from '../../../server/contract/address.ts';
import { clientKinds } from '../../../server/contract/clients/client-guide.ts';
import { clientGuides } from '../../../server/contract/clients/client-guides.ts';
import { nearestName } from '../../../server/contract/nearest-name.ts';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import { KeyChooser } from '../../components/selects/FindSelect.tsx';
import { ModelField } from '../../components/selects/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { type KeyChoice, useKeyChoice } from '../../state/choices/use-key-choice.ts';
import { type ModelChoice, useModelChoice } from '../../state/choices/use-model-choice.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import { useRights } from '../../state/rights/use-rights.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { ApplyPanel } from './ApplyPanel.tsx';
import { type ClientUses, latestArrival } from './arrival.ts';
import { ClientSteps, type CopiedKey } from './ClientSteps.tsx';
import classes from './Connect.module.css';
import { TestOutcomeNote, useTestCall } from './TestCall.tsx';

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

interface ChoiceBarProps {
  keyChoice: KeyChoice;
  models: ModelChoice;
  baseUrl: string;
}

/** The choice of key and model for the steps, with a test. */
function ChoiceBar({ keyChoice, models, baseUrl }: ChoiceBarProps) {
  const { status } = useMessages();
  return (
    <div className={classes.bar}>
      <div className={classes.choices}>
        <div>
          <p className={classes.label}>{status.baseUrl}</p>
          <CopyLine value={baseUrl} label={status.baseUrl} oneLine />
        </div>
        <KeyChooser choice={keyChoice} />
        <ModelField choice={models} />
      </div>
      <div className={classes.acts}>
        {keyChoice.key?.canReveal && <SecretToggle choice={keyChoice} />}
        <TestFromHere key={`${keyChoice.key?.id} ${models.model}`} choice={keyChoice} model={models.model} />
      </div>
      {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
    </div>
  );
}

function SecretToggle({ choice }: { choice: KeyChoice }) {
  const { connect: messages } = useMessages();
  const isShown = choice.secret !== null;
  return (
    <Button
      size="xs"
      variant="default"
      aria-pressed={isShown}
      leftSection={isShown ? <IconEyeOff size={14} /> : <IconEye size={14} />}
      loading={choice.isRevealing}
      onClick={() => (isShown ? choice.forget() : void choice.reveal())}
    >
      {isShown ? messages.hideSecret : messages.showSecret}
    </Button>
  );
}

interface TestFromHereProps {
  choice: KeyChoice;
  model: string;
}

/** Calls the chosen model with the chosen key, as a client would. */
function TestFromHere({ choice, model }: TestFromHereProps) {
  const { connect: messages } = useMessages();
  const { isPossible, isRunning, outcome, run } = useTestCall(choice, model);
  return (
    <>
      <Button
        size="xs"
        leftSection={<IconPlugConnected size={14} />}
        loading={isRunning}
        disabled={!isPossible}
        onClick={() => void run()}
      >
        {messages.test}
      </Button>
      <TestOutcomeNote outcome={outcome} model={model} />
    </>
  );
}

const addressOfClient = (id: string) => `/connect/${id}`;

interface ClientListProps {
  chosenId: string | null;
  fromLedger: ClientUses['fromLedger'];
}

/** All clients, with a mark on those whose requests have arrived. A menu in a narrow window. */
function ClientList({ chosenId, fromLedger }: ClientListProps) {
  const { connect: messages } = useMessages();
  const [, navigate] = useLocation();
  return (
    <>
      <NativeSelect
        className={classes.menu}
        label={messages.clients}
        value={chosenId ?? ''}
        onChange={(event) => navigate(addressOfClient(event.currentTarget.value))}
        data={clientKinds.map((kind) => ({
          group: messages.kinds[kind],
          items: guidesOf(kind).map(({ id, name }) => ({ value: id, label: name })),
        }))}
      />
      <nav className={classes.list} aria-label={messages.clients}>
        {clientKinds.map((kind) => (
          <div key={kind}>
            <p className={classes.kind}>{messages.kinds[kind]}</p>
            <ul className={classes.links}>
              {guidesOf(kind).map((guide) => (
                <li key={guide.id}>
                  <Link
                    className={classes.link}
                    href={addressOfClient(guide.id)}
                    aria-current={guide.id === chosenId ? 'true' : undefined}
                  >
                    <span>{guide.name}</span>
                    <ArrivalMark clientId={guide.id} fromLedger={fromLedger} />
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </>
  );
}

function ArrivalMark({ clientId, fromLedger }: { clientId: string; fromLedger: ClientUses['fromLedger'] }) {
  const { connect: messages } = useMessages();
  const hasArrived = useControlState(({ requests }) => latestArrival(clientId, { requests, fromLedger }) !== null);
  if (!hasArrived) return null;
  return <IconCircleCheckFilled className={classes.arrived} size={14} aria-label={messages.hasArrived} role="img" />;
}

function guidesOf(kind: (typeof clientKinds)[number]) {
  return clientGuides.filter((guide) => guide.kind === kind);
}
