import { Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Lock } from '../../server/contract/lock.ts';
import { FoldedPart } from './FoldedPart.tsx';

interface SwitchedPartProps {
  title: string;
  /** What is set, in a few words; where it is off, that is said. */
  summary: string;
  isOn: boolean;
  /** Of the switch. */
  label: string;
  hint: string;
  /** Null: nobody has fixed what is in it. */
  lock: Lock | null;
  onSwitch(isOn: boolean): void;
  /** What can be set once it is on. */
  children: ReactNode;
}

/** A folded part of a form that begins with the switch that turns all of it on. */
export function SwitchedPart({ isOn, label, hint, onSwitch, children, ...part }: SwitchedPartProps) {
  return (
    <FoldedPart {...part} isSet={isOn}>
      <Switch
        label={label}
        description={hint}
        checked={isOn}
        onChange={(event) => onSwitch(event.currentTarget.checked)}
      />
      {children}
    </FoldedPart>
  );
}
