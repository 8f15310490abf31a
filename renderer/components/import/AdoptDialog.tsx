import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import {
  type AdoptedEntry,
  type AdoptPreview,
  type AdoptVerdict,
  adoptedPrograms,
  verdictOf,
} from '../../../server/contract/change-views.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { withIndexKeys } from '../lists/with-index-keys.ts';
import classes from './PresetDialog.module.css';
import { MissingCredentials } from './PresetReview.tsx';

/** Another program's configuration as received, with the engine's preview. */
export interface Adoption {
  text: string;
  preview: AdoptPreview;
}

interface AdoptDialogProps {
  adoption: Adoption;
  onClose(): void;
}

/** Shows what becomes of each entry of another program's configuration before it is added. */
export function AdoptDialog({ adoption, onClose }: AdoptDialogProps) {
  const { adopt: names } = useMessages();
  const program = adoptedPrograms[adoption.preview.program];
  return (
    <ModalFrame opened onClose={onClose} title={names.title(program)}>
      <AdoptReview adoption={adoption} program={program} onClose={onClose} />
    </ModalFrame>
  );
}

const verdicts: readonly AdoptVerdict[] = ['taken', 'changed', 'left-out'];

function AdoptReview({ adoption: { text, preview }, program, onClose }: AdoptDialogProps & { program: string }) {
  const { adopt: names, cancel, close } = useMessages();
  const command = useCommand();
  const [missing, setMissing] = useState<string[] | null>(null);
  const apply = async () => {
    const result = await command.run({ type: 'config.adopt', text, expectedRevision: preview.revision });
    if (result) setMissing(result.missingSecrets);
  };
  if (missing) return <MissingCredentials name={program} missing={missing} onClose={onClose} />;
  const isEmpty = preview.entries.every((entry) => verdictOf(entry) === 'left-out');
  return (
    <Stack gap="sm">
      <p className={classes.text}>{isEmpty ? names.nothing : names.hint}</p>
      {verdicts.map((verdict) => (
        <Entries
          key={verdict}
          title={names.verdicts[verdict]}
          entries={preview.entries.filter((entry) => verdictOf(entry) === verdict)}
        />
      ))}
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {isEmpty ? close : cancel}
        </Button>
        {!isEmpty && (
          <Button loading={command.isRunning} onClick={() => void apply()}>
            {names.apply}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function Entries({ title, entries }: { title: string; entries: readonly AdoptedEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <section className={classes.part}>
      <h3 className={classes.title}>{title}</h3>
      <ul className={classes.paths}>
        {withIndexKeys(entries).map(({ key, value }) => (
          <Entry key={key} entry={value} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ entry: { place, as, key, notes, refusal } }: { entry: AdoptedEntry }) {
  const { adopt: names, controlProblems } = useMessages();
  const said = [
    ...(as ? [names.becomes[as.part](as.name)] : []),
    ...(key === undefined ? [] : [names.key(key)]),
    ...notes.map((note) => formatMessage(names.notes, note)),
    ...(refusal ? [formatMessage(controlProblems, refusal)] : []),
  ];
  return (
    <li>
      <code>{place}</code>
      <p className={classes.soft}>{said.join(' · ')}</p>
      {as && <p className={classes.soft}>{as.detail}</p>}
    </li>
  );
}
