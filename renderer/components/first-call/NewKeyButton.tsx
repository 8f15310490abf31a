import { Button } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useCanChange, usePerson } from '../../state/rights/use-rights.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';

/** Creates a key, for people who have none or none with a kept secret. `isNext`: it is what they do next. */
export function NewKeyButton({ isNext }: { isNext: boolean }) {
  const { firstCall: names } = useMessages();
  const canChange = useCanChange();
  const command = useCommand();
  const person = usePerson();
  // Whoever is no administrator makes keys in their own groups only.
  const [group] = person && !person.isAdmin ? [...person.memberOf, ...person.manages] : [];
  const create = () =>
    void command.run({ type: 'key.create', name: names.firstKeyName, keepSecret: true, ...(group && { group }) });
  return (
    <>
      <Button
        size="xs"
        variant={isNext ? 'filled' : 'default'}
        leftSection={<IconKey size={14} />}
        loading={command.isRunning}
        disabled={!canChange}
        onClick={create}
      >
        {names.createKey}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}
