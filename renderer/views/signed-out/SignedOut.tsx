/** Shown to a browser that is not or no longer signed in: explains how to get access. */
import { Button } from '@mantine/core';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import classes from './SignedOut.module.css';

/** The command of the installed program, and its equivalent in a folder of the sources. */
const command = 'sluice window --open';
const sourcesCommand = 'npm run -s sluice -- window --open';
/** The engine redirects to this query string if the address opened has already been used or has expired. */
const isLinkUsed = new URLSearchParams(location.search).get('link') === 'used';

/** Shows the organisation's sign-in if there is one. Otherwise the machine's own command line grants access. */
export function SignedOut() {
  const { answer, problem } = useQuery({ type: 'who-am-i' });
  if (answer === null && problem === null) return null;
  return problem?.code === 'not_signed_in' ? <SignIn /> : <AccessRefused />;
}

function AccessRefused() {
  const { signedOut: messages, command: commandName } = useMessages();
  const { reconnect } = useControlStore();
  const hasEnded = useControlState((state) => state.views !== null);
  return (
    <main className={classes.main}>
      <h1 className={classes.title}>{titleOf(messages, hasEnded)}</h1>
      <p className={classes.lead}>{hasEnded ? messages.leadEnded : isLinkUsed ? messages.leadUsed : messages.lead}</p>
      <ol className={classes.steps}>
        <li>
          {messages.stepAddress}
          <div className={classes.command}>
            <CopyLine value={command} label={commandName} />
          </div>
          <div className={classes.command}>
            {messages.fromSources}
            <CopyLine value={sourcesCommand} label={messages.fromSourcesCommand} />
          </div>
        </li>
        <li>{messages.stepAgain}</li>
      </ol>
      <Button onClick={reconnect}>{messages.retry}</Button>
      <p className={classes.note}>{messages.note}</p>
    </main>
  );
}

function titleOf({ title, titleEnded, titleUsed }: Messages['signedOut'], hasEnded: boolean): string {
  if (hasEnded) return titleEnded;
  return isLinkUsed ? titleUsed : title;
}

/** Why the engine redirected here from a sign-in; null if it did not. */
const failure = new URLSearchParams(location.search).get('sign-in');

/** Sign-in with an organisation's account. */
function SignIn() {
  const { signIn } = useMessages();
  const hasEnded = useControlState((state) => state.views !== null);
  return (
    <main className={classes.main}>
      <h1 className={classes.title}>{hasEnded ? signIn.titleEnded : signIn.title}</h1>
      <p className={classes.lead}>{failure === null ? signIn.lead : describeSignInError(failure, signIn)}</p>
      <p>
        <Button component="a" href="/control/sign-in">
          {signIn.button}
        </Button>
      </p>
      <p className={classes.note}>{signIn.note}</p>
    </main>
  );
}

function describeSignInError(
  code: string,
  { noRole, notAssigned, tooMany, failed }: ReturnType<typeof useMessages>['signIn'],
): string {
  if (code === 'no-role') return noRole;
  if (code === 'not-assigned') return notAssigned;
  return code === 'sign_in_limit' ? tooMany : failed;
}
