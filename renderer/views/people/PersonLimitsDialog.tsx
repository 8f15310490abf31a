import { Stack, Switch } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { PersonView } from '../../../server/contract/people-views.ts';
import { LimitFields } from '../../components/access/AccessFields.tsx';
import { budgetPeriods, limitsOf } from '../../components/access/limit-draft.ts';
import { DialogActions, ModalFrame } from '../../components/dialogs/ModalFrame.tsx';
import { Fieldset } from '../../components/forms/Fieldset.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';

interface PersonLimitsDialogProps {
  /** Null while it is closed. */
  person: PersonView | null;
  onClose(): void;
  onDone(notice: string): void;
}

/** Limits of a person over all of their keys. */
export function PersonLimitsDialog({ person, onClose, onDone }: PersonLimitsDialogProps) {
  const { people: names } = useMessages();
  return (
    <ModalFrame title={names.limitTitle(person?.name ?? '')} opened={person !== null} onClose={onClose}>
      {person && <LimitsForm key={person.id} {...{ person, onClose, onDone }} />}
    </ModalFrame>
  );
}

/** A person has no total: their keys come and go. */
const periods = budgetPeriods.filter((per) => per !== 'total');

function LimitsForm({ person, onClose, onDone }: PersonLimitsDialogProps & { person: PersonView }) {
  const { people: names, limits: limitNames } = useMessages();
  const [isOwn, setOwn] = useState(person.hasOwnLimits);
  const [draft, setDraft] = useState(person.limits ?? undefined);
  const command = useCommand();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const limits = isOwn ? (limitsOf(draft) ?? {}) : null;
    if (!(await command.run({ type: 'person.limit', id: person.id, limits }))) return;
    onDone(names.limited(person.name));
    onClose();
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <Switch
          label={names.ownLimits}
          description={names.ownLimitsHint}
          checked={isOwn}
          onChange={({ currentTarget }) => setOwn(currentTarget.checked)}
        />
        {isOwn && (
          <Fieldset legend={limitNames.title} hint={names.limitHint}>
            <LimitFields limits={draft} periods={periods} onChange={setDraft} />
          </Fieldset>
        )}
        <DialogActions command={command} onLeave={onClose} />
      </Stack>
    </form>
  );
}
