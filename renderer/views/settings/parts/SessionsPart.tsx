import { Button } from '@mantine/core';
import { IconLogout } from '@tabler/icons-react';
import { useState } from 'react';
import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useDesktop } from '../../../state/window/use-desktop.ts';
import classes from '../Settings.module.css';

/** How long browsers stay signed in to the window, with a button that signs all of them out. */
export function SessionsPart() {
  const { sessions: names } = useMessages().settings;
  const command = useCommand();
  const isDesktop = useDesktop() !== null;
  const [isAsking, setAsking] = useState(false);
  const [ended, setEnded] = useState<number | null>(null);
  const close = () => {
    command.forget();
    setAsking(false);
  };
  const signOut = async () => {
    const result = await command.run({ type: 'window.sign-out-everywhere' });
    // In a browser, this session ends too, and the signed-out screen explains how to return.
    if (!result) return;
    setEnded(result.ended);
    close();
  };
  return (
    <Section title={names.title}>
      <div className={classes.form}>
        <p className={classes.text}>{names.hint}</p>
        <div className={classes.acts}>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconLogout size={14} />}
            onClick={() => {
              setEnded(null);
              setAsking(true);
            }}
          >
            {names.signOut}
          </Button>
        </div>
        {ended !== null && <p className={classes.text}>{names.done(ended)}</p>}
      </div>
      <ConfirmDialog
        opened={isAsking}
        title={names.confirmTitle}
        text={isDesktop ? names.confirmInDesktop : names.confirmInBrowser}
        confirm={names.confirm}
        isRunning={command.isRunning}
        problem={command.problem}
        onConfirm={() => void signOut()}
        onClose={close}
      />
    </Section>
  );
}
