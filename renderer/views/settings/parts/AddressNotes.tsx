import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { fieldOf } from '../fields/settings-field.ts';
import type { SettingsForm } from '../fields/use-settings-form.ts';
import classes from '../Settings.module.css';

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/;

const none: readonly never[] = [];

/** Explains the chosen address: who can reach Sluice there, and from when it applies. */
export function AddressNotes({ form }: { form: SettingsForm }) {
  const { messages: texts, formats } = useLocalization();
  const messages = texts.settings;
  const listensAt = useControlState((state) => state.views?.status.listensAt ?? null);
  const givenFields = useControlState((state) => state.views?.status.givenAddress ?? none);
  const host = form.textOf(fieldOf('host')).trim();
  const isOpen = host !== '' && !loopback.test(host);
  const options = givenFields.map((name) => `--${name}`);
  const listensElsewhere = listensAt !== null && new URL(listensAt).port !== form.textOf(fieldOf('port'));
  const notes = [
    givenFields.length < 2 && messages.nextStart,
    options.length > 0 && messages.givenAtStart(formats.list(options)),
    listensElsewhere && messages.listensAt(listensAt),
  ];
  return (
    <>
      {isOpen && (
        <p className={classes.warning} role="alert">
          <IconAlertTriangle className={classes.icon} size={16} aria-hidden />
          <span>{messages.lanWarning}</span>
        </p>
      )}
      <p className={classes.note}>
        <IconInfoCircle className={classes.icon} size={16} aria-hidden />
        <span>{notes.filter((note) => note !== false).join(formats.gap)}</span>
      </p>
    </>
  );
}
