import type { Chosen } from '../../components/selects/chosen.ts';
import { FindSelect } from '../../components/selects/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Models.module.css';

interface ModelScopeSelectProps {
  scope: Chosen | null;
  onChange(scope: Chosen): void;
}

/** The key or group for which the models are listed and explained. */
export function ModelScopeSelect({ scope, onChange }: ModelScopeSelectProps) {
  const { models: names } = useMessages();
  return (
    <FindSelect
      className={classes.scope}
      size="xs"
      kinds={['group', 'key']}
      label={names.asker}
      chosen={scope}
      onChange={(chosen) => chosen && onChange(chosen)}
    />
  );
}
