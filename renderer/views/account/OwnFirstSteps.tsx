import { dayMs } from '../../../server/contract/units.ts';
import { AddressStep } from '../../components/first-call/AddressStep.tsx';
import { FirstCall } from '../../components/first-call/FirstCall.tsx';
import classes from '../../components/first-call/Steps.module.css';
import { Step, ToolLinks } from '../../components/first-call/Steps.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useKeyChoice } from '../../state/choices/use-key-choice.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { progressOf, useAddressCopied } from '../../state/first-run/use-first-run.ts';

/** The first steps of a person who was invited: a key, a call, a tool. Shown until all are done, or for a day of use. */
export function OwnFirstSteps() {
  const { firstRun: names } = useMessages();
  const isNew = useControlState(isNewPerson);
  const hasCalled = useControlState((state) => ownProgress(state).hasCalled);
  const hasTool = useControlState((state) => ownProgress(state).hasTool);
  const choice = useKeyChoice();
  const hasUsedAddress = useControlState((state) => ownProgress(state).hasAddress);
  const [isCopied, noteCopied] = useAddressCopied();
  if (!isNew || (hasCalled && hasTool)) return null;
  return (
    <Section title={names.title}>
      <ol className={classes.steps}>
        <Step number={1} title={names.address} text={names.addressText} isDone={isCopied || hasUsedAddress}>
          <AddressStep choice={choice} isFirst onCopied={noteCopied} />
        </Step>
        <Step number={2} title={names.call} text={names.ownCallText} isDone={hasCalled}>
          <FirstCall choice={choice} isAfterKey />
        </Step>
        <Step number={3} title={names.tool} text={names.toolText} isDone={hasTool}>
          <ToolLinks />
        </Step>
      </ol>
    </Section>
  );
}

function ownKeys({ views }: ControlState) {
  const me = views?.status.person?.id;
  return views?.keys.filter(({ owner }) => owner !== null && owner === me) ?? [];
}

/** None of their keys was in use a day ago. */
function isNewPerson(state: ControlState): boolean {
  const recently = Date.now() - dayMs;
  return state.views !== null && !ownKeys(state).some(({ lastUsedAt }) => lastUsedAt !== null && lastUsedAt < recently);
}

function ownProgress(state: ControlState) {
  const own = new Set(ownKeys(state).map(({ id }) => id));
  const requests = state.requests.filter(({ keyId }) => keyId !== null && own.has(keyId));
  return progressOf({ views: state.views, requests });
}
