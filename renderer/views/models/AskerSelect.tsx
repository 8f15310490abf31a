import type { Chosen } from '../../components/chosen.ts';
import { FindSelect } from '../../components/FindSelect.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Models.module.css';

interface AskerSelectProps {
  asker: Chosen | null;
  onChange(asker: Chosen): void;
}

/** The key or group for which the models are listed and explained. */
export function AskerSelect({ asker, onChange }: AskerSelectProps) {
  const { models: names } = useMessages();
  return (
    <FindSelect
      className={classes.asker}
      size="xs"
      kinds={['group', 'key']}
      label={names.asker}
      chosen={asker}
      onChange={(chosen) => chosen && onChange(chosen)}
    />
  );
}
