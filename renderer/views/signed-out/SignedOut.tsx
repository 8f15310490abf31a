/** What is shown to a browser that the engine does not know, or knows no longer: how to get in. */
import { Button } from '@mantine/core';
import { CopyLine } from '../../components/CopyLine.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/use-control.ts';
import classes from './SignedOut.module.css';

const command = 'npm run -s sluice -- window --open';

export function SignedOut() {
  const { signedOut: messages, command: commandName } = useMessages();
  const { reconnect } = useControlStore();
  const hasEnded = useControlState((state) => state.views !== null);
  return (
    <main className={classes.main}>
      <h1 className={classes.title}>{hasEnded ? messages.titleEnded : messages.title}</h1>
      <p className={classes.lead}>{hasEnded ? messages.leadEnded : messages.lead}</p>
      <ol className={classes.steps}>
        <li>
          {messages.stepAddress}
          <div className={classes.command}>
            <CopyLine value={command} what={commandName} />
          </div>
        </li>
        <li>{messages.stepAgain}</li>
      </ol>
      <Button onClick={reconnect}>{messages.retry}</Button>
      <p className={classes.note}>{messages.note}</p>
    </main>
  );
}
