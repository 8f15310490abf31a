import { useState } from 'react';
import { ModalFrame } from '../../components/ModalFrame.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { ConnectForm } from './ConnectForm.tsx';
import { FirstProbe } from './FirstProbe.tsx';
import { type Choice, PresetPicker } from './PresetPicker.tsx';

/** Where the person is: which service, what it needs, whether it works. */
type Stage = { name: 'pick' } | { name: 'connect'; choice: Choice } | { name: 'probe'; id: string };

/** Adds a provider in three steps. Its content is made anew each time it opens, so that it always begins empty. */
export function AddProvider({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { add: names } = useMessages().providers;
  return (
    <ModalFrame opened={opened} onClose={onClose} title={names.title}>
      <Stages onClose={onClose} />
    </ModalFrame>
  );
}

function Stages({ onClose }: { onClose(): void }) {
  const [stage, setStage] = useState<Stage>({ name: 'pick' });
  switch (stage.name) {
    case 'pick':
      return <PresetPicker onPick={(choice) => setStage({ name: 'connect', choice })} />;
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
