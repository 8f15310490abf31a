import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { IconAction } from '../buttons/IconAction.tsx';
import { CopyButton } from '../copying/CopyButton.tsx';
import { hiddenKey } from './first-call.ts';
import { NewKeyButton } from './NewKeyButton.tsx';
import classes from './Steps.module.css';

interface AddressStepProps {
  choice: KeyChoice;
  /** The first step is to get a key. */
  isFirst?: boolean;
  onCopied(): void;
}

/** The settings that every client needs: the base URL and a key, whose secret is revealed only on request. */
export function AddressStep({ choice, isFirst = false, onCopied }: AddressStepProps) {
  const { firstRun: names, status } = useMessages();
  const baseUrl = useControlState((state) => state.views?.status.baseUrl ?? '');
  const copyOf = (value: () => Promise<string | null>) => async () => {
    const text = await value();
    if (text !== null) onCopied();
    return text;
  };
  const copiedKey = copyOf(async () => (await choice.peek()).secret);
  return (
    <dl className={classes.values}>
      <dt>{status.baseUrl}</dt>
      <dd className={classes.value}>
        <code className={classes.code}>{baseUrl}</code>
        <CopyButton value={copyOf(async () => baseUrl)} label={status.baseUrl} />
      </dd>
      <dt>{names.key}</dt>
      <dd className={classes.value}>
        {choice.key?.canReveal ? (
          <>
            <code className={classes.code}>{choice.secret ?? hiddenKey}</code>
            {choice.secret === null ? (
              <IconAction label={names.showKey} icon={<IconEye size={18} />} onClick={() => void choice.reveal()} />
            ) : (
              <IconAction label={names.hideKey} icon={<IconEyeOff size={18} />} onClick={choice.forget} />
            )}
            <CopyButton value={copiedKey} label={names.key} />
          </>
        ) : (
          <NewKeyButton isNext={isFirst} />
        )}
      </dd>
    </dl>
  );
}
