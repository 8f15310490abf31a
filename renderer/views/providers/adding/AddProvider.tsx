import { useState } from 'react';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { ConnectForm } from './ConnectForm.tsx';
import { FirstProbe } from './FirstProbe.tsx';
import { PresetPicker } from './PresetPicker.tsx';
import type { Choice } from './provider-choice.ts';

/** The current step: choosing a service, connecting to it, or testing it. */
export type Stage = { name: 'pick' } | { name: 'connect'; choice: Choice } | { name: 'probe'; id: string };

/**
 * Adds a provider in three steps, starting with `first`; null while closed. The content is remounted each time it
 * opens, so that it starts empty.
 */
export function AddProvider({ first, onClose }: { first: Stage | null; onClose(): void }) {
  const { add: names } = useMessages().providers;
  return (
    <ModalFrame opened={first !== null} onClose={onClose} title={names.title}>
      {first && <Stages first={first} onClose={onClose} />}
    </ModalFrame>
  );
}

function Stages({ first, onClose }: { first: Stage; onClose(): void }) {
  const [stage, setStage] = useState(first);
  switch (stage.name) {
    case 'pick':
      return (
        <PresetPicker
          onPick={(choice) => setStage({ name: 'connect', choice })}
          onAdded={(id) => setStage({ name: 'probe', id })}
        />
      );
    case 'connect':
      return (
        <ConnectForm
          choice={stage.choice}
          onBack={() => setStage({ name: 'pick' })}
          onAdded={(id) => setStage({ name: 'probe', id })}
        />
      );
    case 'probe':
      return <FirstProbe id={stage.id} onDone={onClose} />;
  }
}
