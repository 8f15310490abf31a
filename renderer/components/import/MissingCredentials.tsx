import { Button, Group, Stack } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { CredentialForm } from '../credentials/CredentialForm.tsx';
import classes from './PresetDialog.module.css';

interface MissingCredentialsProps {
  /** Name of the preset. */
  name: string;
  /** `provider/credential`. */
  missing: readonly string[];
  onClose(): void;
}

/** The next step after a preset is applied: the person's own credential for each provider that needs one. */
export function MissingCredentials({ name, missing, onClose }: MissingCredentialsProps) {
  const { team: names, done } = useMessages();
  const [editing, setEditing] = useState<string | null>(null);
  return (
    <Stack gap="sm">
      <p className={classes.text} role="status">
        {names.applied(name)} {missing.length > 0 ? names.missing : names.complete}
      </p>
      <ul className={classes.credentials}>
        {missing.map((path) => (
          <MissingCredential
            key={path}
            path={path}
            isEditing={editing === path}
            onEdit={() => setEditing(path)}
            onEnd={() => setEditing(null)}
          />
        ))}
      </ul>
      <Group justify="flex-end">
        <Button variant={missing.length > 0 ? 'default' : 'filled'} onClick={onClose} data-autofocus>
          {done}
        </Button>
      </Group>
    </Stack>
  );
}

interface MissingCredentialProps {
  path: string;
  isEditing: boolean;
  onEdit(): void;
  onEnd(): void;
}

function MissingCredential({ path, isEditing, onEdit, onEnd }: MissingCredentialProps) {
  const { team: names } = useMessages();
  const [providerId = '', credentialId = ''] = path.split('/');
  const providers = useControlState((state) => state.views?.providers ?? null) ?? [];
  const provider = providers.find(({ id }) => id === providerId);
  const credential = provider?.credentials.find(({ id }) => id === credentialId);
  const title = provider?.name ?? providerId;
  return (
    <li className={classes.credential}>
      <div className={classes.credentialHead}>
        <div>
          <p className={classes.name}>{title}</p>
          <p className={classes.soft}>{credential?.label ?? credentialId}</p>
        </div>
        {credential?.hasSecret ? (
          <span className={classes.entered} role="status">
            <IconCheck size={16} aria-hidden /> {names.entered}
          </span>
        ) : (
          !isEditing && (
            <Button size="xs" aria-label={names.enterNamed(title)} onClick={onEdit}>
              {names.enter}
            </Button>
          )
        )}
      </div>
      {isEditing && credential && (
        <CredentialForm provider={providerId} credential={credential} onCancel={onEnd} onSaved={onEnd} />
      )}
    </li>
  );
}
