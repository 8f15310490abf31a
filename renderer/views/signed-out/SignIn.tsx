/** Sign-in with an organisation's account. */
import { Button } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import classes from './SignedOut.module.css';

/** Why the engine redirected here from a sign-in; null if it did not. */
const failure = new URLSearchParams(location.search).get('sign-in');

export function SignIn() {
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
  { noRole, tooMany, failed }: ReturnType<typeof useMessages>['signIn'],
): string {
  if (code === 'no-role') return noRole;
  return code === 'sign_in_limit' ? tooMany : failed;
}
