/** What is shown to a browser that the engine does not know: how to get in. Knows nothing of the engine's state. */
import { Button } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/use-control.ts';
import classes from './SignedOut.module.css';

export function SignedOut() {
  const { signedOut: messages } = useMessages();
  const { reconnect } = useControlStore();
  return (
    <main className={classes.main}>
      <h2 className={classes.title}>{messages.title}</h2>
      <p className={classes.lead}>{messages.lead}</p>
      <ol className={classes.steps}>
        <li>{messages.stepAddress}</li>
        <li>{messages.stepAgain}</li>
      </ol>
      <Button onClick={reconnect}>{messages.retry}</Button>
    </main>
  );
}
